/*
 * Spends CPU time in two functions, three times as much in one as in the other: shares [MILLISECONDS].
 *
 * Both do the same in slices of equal length, so the shares do not depend on the machine. The program prints the CPU
 * time in milliseconds that passed in steps of 20 milliseconds or more. A turn of the loop needs less than one
 * millisecond, so the machine was paused in these steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLICE(name) \
    __attribute__((noinline, aligned(64))) void name(void) { \
        for (int i = 0; i < 20000; i++) \
            __asm__ volatile(""); \
    }

SLICE(one)
SLICE(three)

int main(int argc, char **argv) {
    long milliseconds = argc > 1 ? atol(argv[1]) : 300;
    long before = 0, after = 0, paused = 0;
    struct timespec now;
    do {
        one();
        three();
        three();
        three();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        after = now.tv_sec * 1000 + now.tv_nsec / 1000000;
        paused += after - before >= 20 ? after - before : 0;
        before = after;
    } while (after < milliseconds);
    printf("paused %ld\n", paused);
    return 0;
}
