/*
 * Sends itself the signal that the runtime's timers send, so that the number of samples in each function is known without a clock:
 *
 *     ticks HERE THERE     so many in `here`, so many in `there`
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SAMPLING = 60 };

/* kill(pid, SAMPLING), with the system call here and not in the C library: the signal comes in right behind it. */
#define TICKS(name) \
    __attribute__((noinline, aligned(64))) void name(long n, long pid) { \
        while (n-- > 0) { \
            long result = SYS_kill; \
            __asm__ volatile("syscall" : "+a"(result) : "D"(pid), "S"((long)SAMPLING) : "rcx", "r11", "memory"); \
        } \
    }

TICKS(here)
TICKS(there)

__attribute__((noinline, aligned(64))) void nowhere(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
    long pid = getpid();
    here(argc > 1 ? atol(argv[1]) : 0, pid);
    there(argc > 2 ? atol(argv[2]) : 0, pid);
    nowhere();
    return 0;
}
