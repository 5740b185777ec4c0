/* Uses CPU time, and prints how often each function was called: estimated MILLISECONDS [THREADS [fork]].

   `branch` calls `leaf` three times. `seldom` is called in every hundredth turn, `burst` many times at random turns,
   and `phase` during a fifth of the time; `never` is not called. With `fork`, a child does the same after its parent.

   The work of a call has no jumps that a processor may predict less well or better while calls are counted. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gmon.h"

#define COUNTED __attribute__((noinline, noclone, noipa))
#define OTHER __attribute__((patchable_function_entry(0, 0)))

enum { LEAF, BRANCH, PHASE, SELDOM, BURST, NEVER, FUNCTIONS };
static const char *const names[] = {"leaf", "branch", "phase", "seldom", "burst", "never"};
static __thread long counts[FUNCTIONS];
static long sums[FUNCTIONS];
static long milliseconds;

static inline __attribute__((always_inline)) void spin(int turns)
{
    unsigned long x = turns;
    for (int i = 0; i < turns; i++) {
        x = x * x + 1, x = x * x + 2, x = x * x + 3, x = x * x + 4;
        __asm__ volatile("" : "+r"(x));
    }
}

COUNTED void leaf(void)
{
    counts[LEAF]++;
    spin(6);
}
COUNTED void branch(void)
{
    counts[BRANCH]++;
    leaf();
    leaf();
    leaf();
}
COUNTED void phase(void)
{
    counts[PHASE]++;
    spin(3);
}
COUNTED void seldom(void)
{
    counts[SELDOM]++;
    spin(3);
}
COUNTED void burst(void)
{
    counts[BURST]++;
    spin(1);
}
COUNTED void never(void) { counts[NEVER]++; }

OTHER static double thread_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* A random number: xorshift64, by G. Marsaglia. */
static __thread unsigned long state;
static inline __attribute__((always_inline)) unsigned long random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

OTHER static void *work(void *unused)
{
    double start = thread_time(), passed;
    memset(counts, 0, sizeof counts);
    state = (unsigned long)getpid() << 32 | (unsigned)(size_t)&start | 1;
    for (long turn = 0; (passed = thread_time() - start) < milliseconds; turn++) {
        for (int i = 0; i < 100; i++)
            branch();
        if (passed > 0.4 * milliseconds && passed < 0.6 * milliseconds)
            for (int i = 0; i < 100; i++)
                phase();
        if (turn % 100 == 0)
            seldom();
        /* Random in when and in how many. */
        if (random_number() % 4096 == 0)
            for (int i = random_number() % 4000; i >= 0; i--)
                burst();
        if (passed < 0)
            never();
    }
    for (int i = 0; i < FUNCTIONS; i++)
        __atomic_fetch_add(&sums[i], counts[i], __ATOMIC_RELAXED);
    return unused;
}

OTHER static void run(int threads)
{
    pthread_t ids[16];
    memset(sums, 0, sizeof sums);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, NULL))
            exit(1);
    work(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < FUNCTIONS; i++)
        printf("%s %ld\n", names[i], sums[i]);
    fflush(stdout);
}

OTHER int main(int argc, char **argv)
{
    milliseconds = atol(argv[1]);
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    run(threads);
    if (argc > 3) {
        pid_t child = fork();
        if (child == 0)
            run(threads);
        else if (child < 0 || waitpid(child, NULL, 0) < 0)
            return 1;
    }
    return 0;
}
