/*
 * Sends itself the signal of the runtime's timers, so the number of samples in each function is known without a clock:
 *
 *     ticks HERE THERE         HERE samples in `here`, THERE in `there`
 *     ticks HERE THERE child   the same in a forked child; the parent has no samples
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLING = 60 };

/* kill(pid, SAMPLING), with the system call here and not in the C library: the signal arrives right after the call. */
#ifdef __aarch64__
#define SEND(pid) \
    register long number __asm__("x8") = SYS_kill; \
    register long process __asm__("x0") = pid; \
    register long signal __asm__("x1") = SAMPLING; \
    __asm__ volatile("svc #0" : "+r"(process) : "r"(number), "r"(signal) : "memory");
#else
#define SEND(pid) \
    long result = SYS_kill; \
    __asm__ volatile("syscall" : "+a"(result) : "D"(pid), "S"((long)SAMPLING) : "rcx", "r11", "memory");
#endif
#define TICKS(name) \
    __attribute__((noinline, aligned(64))) void name(long n, long pid) { \
        while (n-- > 0) { \
            SEND(pid) \
        } \
    }

TICKS(here)
TICKS(there)

__attribute__((noinline, aligned(64))) void nowhere(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
    int status = 0;
    if (argc > 3 && fork() != 0) {
        return wait(&status) == -1 || status != 0;
    }
    long pid = getpid();
    here(argc > 1 ? atol(argv[1]) : 0, pid);
    there(argc > 2 ? atol(argv[2]) : 0, pid);
    nowhere();
    return 0;
}
