// Threads and processes.
#include "host.h"

// CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _SYSVSEM, _SETTLS, _PARENT_SETTID.
#define THREAD 0x1d0f00
#define SIGCHLD 17
#define PRIVATE_WAIT 128
#define PRIVATE_WAKE 129

// The handler of SIGILL has a stack of its own in each thread, because Linux's frame would lie where the program's
// frames must lie.
#define HANDLER_STACK (64ul << 10)
struct stack { u64 address; int flags, padding; u64 size; };

static long new_handler_stack(struct stack *stack) {
    // PROT_READ and PROT_WRITE; MAP_PRIVATE and MAP_ANONYMOUS.
    long address = linux_call(L_MMAP, 0, HANDLER_STACK, 3, 0x22, -1, 0);
    *stack = (struct stack){(u64)address, 0, 0, HANDLER_STACK};
    return address < 0 ? address : 0;
}

void use_handler_stack(void) {
    struct stack stack;
    if (new_handler_stack(&stack) || LINUX(L_SIGALTSTACK, &stack, 0, 0, 0)) die("no stack for the handler", 0);
}

// Linux's clone. The new thread takes from its stack the description of its handler's stack, the function and the
// argument.
long clone_thread(u64 flags, void *stack, u64 tls);
__asm__(".globl clone_thread; clone_thread: mov x3, x2; mov x2, xzr; mov x8, #220; svc #0; cbz x0, 1f; ret;"
        // sigaltstack; rt_sigprocmask, because the new thread blocks what the handler of SIGILL blocks.
        "1: mov x0, sp; mov x1, xzr; mov x8, #132; svc #0; str xzr, [sp];"
        "mov x0, #2; mov x1, sp; mov x2, xzr; mov x3, #8; mov x8, #135; svc #0;"
        "add sp, sp, #32; ldp x1, x0, [sp], #16; mov x29, #0; mov x30, #0; br x1");

// The emulator (qemu 7.2) cannot start a thread in the child of a process with threads.
static int is_child;

// struct thr_param: start, argument, stack, its size, thread pointer, its size, two places for the ID.
long new_thread(const u64 *parameters) {
    if (is_child) return -11;
    struct { struct stack handlers; u64 padding, start, argument; } *top = (void *)(((parameters[2] + parameters[3]) & ~15ul) - 48);
    long error = new_handler_stack(&top->handlers);
    if (error) return error;
    top->start = parameters[0];
    top->argument = parameters[1];
    expect_thread(1);
    long id = clone_thread(THREAD, top, parameters[4]);
    if (id < 0) {
        expect_thread(-1);
        return id;
    }
    for (int place = 6; place < 8; place++)
        if (parameters[place]) *(long *)parameters[place] = id;
    return 0;
}

// Other threads may unmap the stack once the state is 1.
void end_thread(u32 *state) {
    forget_thread();
    if (!state) for (;;) LINUX(L_EXIT, 0, 0, 0, 0);
    register u64 x0 __asm__("x0") = (u64)state, x1 __asm__("x1") = PRIVATE_WAKE, x2 __asm__("x2") = 1u << 30, x8 __asm__("x8") = L_FUTEX;
    __asm__ volatile("mov w3, #1; stlr w3, [x0]; svc #0; mov x8, #93; svc #0" : : "r"(x0), "r"(x1), "r"(x2), "r"(x8) : "x3", "memory");
    __builtin_unreachable();
}

// Memory that a child gets as zeros.
static struct { u64 address, length; } zeroed[64];
static u64 zeroed_count;

long inherit(u64 address, u64 length, u64 how) {
    if (how != 3) die("minherit with", how);
    if (zeroed_count == 64) die("too many calls of minherit:", zeroed_count);
    zeroed[zeroed_count].address = address, zeroed[zeroed_count++].length = length;
    return 0;
}

// fork. The host also serves vfork with fork: the child has a copy of the memory.
long new_process(void) {
    u32 parent = (u32)LINUX(L_GETTID, 0, 0, 0, 0);
    long child = linux_call(L_CLONE, SIGCHLD, 0, 0, 0, 0, 0);
    if (child) return child;
    is_child = 1;
    forget_other_threads(parent);
    expect_nothing();
    forget_time();
    for (u64 at = 0; at < zeroed_count; at++)
        for (u64 byte = 0; byte < zeroed[at].length; byte++) ((volatile u8 *)zeroed[at].address)[byte] = 0;
    return 0;
}

// execve: a new host in a new emulator. The new program ignores no signals.
long execute(const char *path, char *const *arguments, char *const *environment) {
    const int may_execute = 1;
    long error = LINUX(L_FACCESSAT, AT_FDCWD, path, may_execute, 0);
    if (error) return error;
    char *words[64] = {program.emulator, program.host, program.emulator, (char *)path};
    for (u64 at = 1; arguments[0] && arguments[at]; at++) {
        if (at == 59) return -7;
        words[3 + at] = arguments[at];
    }
    return LINUX(L_EXECVE, program.emulator, words, environment, 0);
}

// wait4. The host ends by exit with 128 and more where FreeBSD ends a process by a signal.
long wait_for(u64 which, int *status, u64 options) {
    int code = 0;
    long child = linux_call(L_WAIT4, (int)which, (long)&code, (long)options, 0, 0, 0);
    if (child > 0 && status) *status = (code >> 8) > 128 ? (code >> 8) - 128 : code;
    return child;
}

// _umtx_op(word, operation, value) without a timeout: WAIT of a long, WAIT_UINT, WAKE, and the private operations.
long wait_on_word(u64 word, u64 operation, u64 value) {
    switch (operation) {
    case 2:
        if (*(volatile u64 *)word != value) return 0;
        break;
    case 11:
    case 15: break;
    case 3:
    case 16: return linux_call(L_FUTEX, (long)word, PRIVATE_WAKE, (long)value, 0, 0, 0) < 0 ? -22 : 0;
    default: die("_umtx_op with", operation);
    }
    expect_nothing();
    long result = linux_call(L_FUTEX, (long)word, PRIVATE_WAIT, (long)(u32)value, 0, 0, 0);
    return result == -11 ? 0 : result;
}
