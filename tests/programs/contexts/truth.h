/*
 * What programs need that know the inclusive costs of their functions: work to do, a clock, and sums by function.
 *
 *     PROGRAM ticks ROUNDS     work is signals of the runtime's timers, which the program sends to itself: the costs
 *                              are numbers of samples
 *     PROGRAM cpu SECONDS      work is CPU time: the costs are nanoseconds
 *     PROGRAM wall SECONDS     the same in real time
 *
 * Prints "truth NAME COST" for each measured function. Each round calls `cheap` and `dear`, which cost about the same.
 * `cheap` calls `work` about a thousand times, and `dear` calls `work` once.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../sample.h"

#ifdef __clang__
#define OWN __attribute__((noinline, aligned(64)))
#else
#define OWN __attribute__((noinline, noclone, aligned(64)))
#endif
#define QUIET static inline __attribute__((always_inline, unused))

/* The processes and threads of a program share these, except for the signals that a thread has sent. */
static int by_hand;
static clockid_t measured_clock = CLOCK_THREAD_CPUTIME_ID;
static double wanted;
/* Volatile: signal handlers change it. */
static __thread volatile long sent;

QUIET double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The costs of this thread so far. */
QUIET long now(void) { return by_hand ? sent : (long)(seconds(measured_clock) * 1e9); }

/* Sends this thread the signal of the timers. */
QUIET void sample(long process_id, long thread_id) {
    SAMPLE(process_id, thread_id)
    if (sample_result != 0)
        abort();
    sent++;
}

/* Work of `n` units, the only code that costs much. Two such functions tell whose work it is. The names keep compilers
 * from merging them. */
#define BURN(name) \
    OWN void name(long n) { \
        if (by_hand) { \
            long process_id = getpid(), thread_id = syscall(SYS_gettid); \
            for (long i = 0; i < n; i++) \
                sample(process_id, thread_id); \
        } else { \
            for (long i = 0; i < n * 3000; i++) \
                __asm__ volatile("# " #name); \
        } \
    }

/* The sum for a function. Calls within calls of the same function in the same thread do not count twice. */
#define TRUTH(name) \
    static long cost_of_##name __attribute__((unused)); \
    static __thread int depth_of_##name __attribute__((unused))
#define MEASURE_WITH(clock, name, call) \
    do { \
        long before_##name = clock; \
        depth_of_##name++; \
        call; \
        if (--depth_of_##name == 0) \
            __atomic_fetch_add(&cost_of_##name, (clock) - before_##name, __ATOMIC_RELAXED); \
    } while (0)
/* A call that takes long enough to read a clock before and after the call. */
#define MEASURE(name, call) MEASURE_WITH(now(), name, call)
/* Any other call, which is measured only in samples. */
#define COUNT(name, call) MEASURE_WITH(sent, name, call)
#define PRINT(name) printf("truth %s %ld\n", #name, cost_of_##name)
#define PRINT_COUNT(name) \
    if (by_hand) \
    PRINT(name)

/* Reads the command line. */
QUIET void begin(int argc, char **argv) {
    if (argc < 3)
        exit(2);
    by_hand = strcmp(argv[1], "ticks") == 0;
    if (strcmp(argv[1], "wall") == 0)
        measured_clock = CLOCK_MONOTONIC;
    wanted = atof(argv[2]);
}

/* Whether to go on, after so many rounds and since that time of the measured clock. */
QUIET int goes_on(long rounds, double start) {
    return by_hand ? (double)rounds < wanted : seconds(measured_clock) - start < wanted;
}

/* A number from 500 to 1523, so that no clock runs in step with the program. With samples by hand, all runs are the
 * same. */
QUIET long random_units(void) {
    static __thread unsigned long state;
    if (state == 0)
        state = 88172645463325252ul + (by_hand ? 0 : (unsigned long)(seconds(CLOCK_MONOTONIC) * 1e9));
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return 500 + (long)(state >> 11 & 1023);
}
