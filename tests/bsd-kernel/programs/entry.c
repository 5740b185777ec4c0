// Program start: registers, stack, arguments, environment, thread-local storage; registers after a system call.
#include "bsd.h"

extern u64 entry_stack_pointer;
static __thread u64 initialized = 0x1234567890;
static __thread char zero[100];
static int order;
static void early(int argc, char **argv, char **env) {
    (void)argv, (void)env;
    CHECK(argc == 3 && order++ == 0);
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = early;
__attribute__((constructor)) static void constructor(void) { CHECK(order++ == 1); }
__attribute__((destructor)) static void destructor(void) { say("destructor\n"); }
static void at_exit(void) { say("atexit\n"); }
static int resolved(void) { return 77; }
__attribute__((used)) static int (*resolver(void))(void) { return resolved; }
int indirect(void) __attribute__((ifunc("resolver")));

static void registers(void) {
    u64 rax = 20, rcx = 1, r8 = 2, r9 = 3, flags;
    register u64 r10 __asm__("r10") = 4;
    register u64 r11 __asm__("r11") = 5;
    register u64 r12 __asm__("r12") = 6;
    __asm__ volatile("mov %[r8], %%r8; mov %[r9], %%r9; stc; syscall; pushf; pop %[flags]; mov %%r8, %[r8]; mov %%r9, %[r9]"
                     : "+a"(rax), "+c"(rcx), "+r"(r10), "+r"(r11), "+r"(r12), [r8] "+S"(r8), [r9] "+D"(r9), [flags] "=d"(flags)
                     :
                     : "r8", "r9", "memory");
    CHECK(rax == (u64)getpid() && !(flags & 1));
    CHECK(r8 == 0 && r9 == 0 && r10 == 0);
    CHECK(rcx != 1 && r11 != 5 && r12 == 6);
}

int main(int argc, char **argv, char **env) {
    u64 rdi = (u64)(argv - 1);
    // The stack pointer is aligned as after a call instruction.
    CHECK(entry_stack_pointer == ((rdi - 8) & ~15ul) + 8);
    CHECK(argc == 3 && !strcmp(argv[1], "one") && !strcmp(argv[2], "") && !argv[3]);
    CHECK(environ == env && !strcmp(getenv("GREETING"), "hello there"));
    CHECK(!strcmp(getprogname(), "entry"));
    CHECK(initialized == 0x1234567890 && zero[99] == 0 && errno == 0);
    CHECK(indirect() == 77 && order == 2);
    registers();
    int carry;
    CHECK(syscall_number(6, 1234, 0, 0, 0, &carry) == EBADF && carry);
    CHECK(write(1234, "", 0) == -1 && errno == EBADF);
    CHECK(write(1, (void *)8, 4) == -1 && errno == EFAULT);
    CHECK(issetugid() == (getenv("SETUGID") != NULL));
    atexit(at_exit);
    return 5;
}
