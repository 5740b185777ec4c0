/*
 * The cost of sampling, of a thread, and of much code:
 *
 *     sampling work N       prints the seconds of CPU time that N rounds of the same work take
 *     sampling threads N    prints the microseconds of CPU time of a thread that makes one call
 *     sampling little       does almost nothing
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static volatile unsigned long kept;

__attribute__((noinline)) static void work(void) {
    unsigned long value = kept;
    for (int i = 0; i < 1000000; i++)
        value = value * 6364136223846793005 + 1442695040888963407;
    kept = value;
}

__attribute__((noinline)) static void *called(void *unused) { return unused; }

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long number = argc > 2 ? atol(argv[2]) : 1;
    if (strcmp(what, "work") == 0) {
        double start = now(CLOCK_PROCESS_CPUTIME_ID);
        for (long i = 0; i < number; i++)
            work();
        printf("%.6f\n", now(CLOCK_PROCESS_CPUTIME_ID) - start);
    } else if (strcmp(what, "threads") == 0) {
        double start = now(CLOCK_PROCESS_CPUTIME_ID);
        for (long i = 0; i < number; i++) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, called, NULL) != 0)
                return 1;
            pthread_join(thread, NULL);
        }
        printf("%.6f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - start) / number * 1e6);
    }
    return 0;
}
