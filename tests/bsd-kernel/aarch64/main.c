// The host's start, and the handler of SIGILL.
#include "host.h"

struct program program;

// Linux's ucontext: the registers, and the vector registers in the first record behind them.
#define REGISTERS_AT 176
#define VECTORS_AT 464
#define SIGILL 4
#define SA_SIGINFO 4ul
#define SA_ONSTACK 0x08000000ul
#define SA_NODEFER 0x40000000ul

long linux_call(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
    return x0;
}

void copy(void *to, const void *from, size_t size) {
    for (size_t at = 0; at < size; at++) ((volatile u8 *)to)[at] = ((const u8 *)from)[at];
}

// Compilers call this function.
void *memset(void *to, int byte, size_t size) {
    for (size_t at = 0; at < size; at++) ((volatile u8 *)to)[at] = (u8)byte;
    return to;
}

void complain(const char *what, u64 number) {
    char line[100] = "aarch64 host: ", digits[20];
    size_t length = 14, count = 0;
    while (*what && length < 70) line[length++] = *what++;
    line[length++] = ' ';
    do digits[count++] = (char)('0' + number % 10); while (number /= 10);
    while (count) line[length++] = digits[--count];
    line[length++] = '\n';
    LINUX(L_WRITE, 2, line, length, 0);
}

void die(const char *what, u64 number) {
    complain(what, number);
    for (;;) LINUX(L_EXIT_GROUP, 125, 0, 0, 0);
}

// FreeBSD's number of an error of Linux.
static u64 error_of(u64 number) {
    static const u8 pairs[][2] = {{11, 35}, {35, 11}, {36, 63}, {38, 78}, {39, 66}, {40, 62}, {95, 45}, {110, 60}};
    for (size_t at = 0; at < sizeof pairs / sizeof pairs[0]; at++)
        if (pairs[at][0] == number) return pairs[at][1];
    if (number > 34) die("FreeBSD's number is unknown of the error", number);
    return number;
}

static void on_undefined(int signal, const void *info, u8 *context) {
    (void)signal, (void)info;
    struct registers *registers = (struct registers *)(context + REGISTERS_AT);
    u8 *vectors = context + VECTORS_AT;
    if (*(u32 *)registers->pc != UNDEFINED) die("an undefined instruction at", registers->pc);
    long result = serve(registers, registers->x[8]);
    if (result == SWITCHED) {
        return_from_handler(registers, vectors);
    } else {
        registers->pc += 4;
        int has_failed = result < 0 && result > -4096;
        registers->x[0] = has_failed ? error_of((u64)-result) : (u64)result;
        registers->state = has_failed ? registers->state | CARRY : registers->state & ~CARRY;
    }
    deliver(registers, vectors);
}

// A signal of another thread interrupts the program's code. The handler of SIGILL blocks this signal.
static void on_kick(int signal, const void *info, u8 *context) {
    (void)signal, (void)info;
    deliver((struct registers *)(context + REGISTERS_AT), context + VECTORS_AT);
}

static void catch(int signal, void (*handler)(int, const void *, u8 *)) {
    struct { void (*handler)(int, const void *, u8 *); u64 flags; void *restorer; u64 mask; } action = {handler, SA_SIGINFO | SA_ONSTACK | SA_NODEFER, NULL, 1u << (KICK - 1)};
    if (linux_call(L_SIGACTION, signal, (long)&action, 0, 8, 0, 0)) die("no handler of signal", (u64)signal);
}

__asm__(".globl _start; _start: mov x29, #0; mov x0, sp; bl begin");
__attribute__((used, noreturn)) static void begin(u64 *words) {
    // The host, the emulator, the program, and the program's arguments.
    if (words[0] < 3) die("arguments are missing:", words[0]);
    program.host = (char *)words[1];
    program.emulator = (char *)words[2];
    program.path = (const char *)words[3];
    program.argv = (char **)(words + 3);
    u64 stack = load(&program);
    use_handler_stack();
    catch(SIGILL, on_undefined);
    catch(KICK, on_kick);
    register u64 x0 __asm__("x0") = stack, x1 __asm__("x1") = program.entry;
    __asm__ volatile("mov sp, x0; mov x2, #0; msr tpidr_el0, xzr; br x1" : : "r"(x0), "r"(x1));
    __builtin_unreachable();
}
