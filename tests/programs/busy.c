/* Uses half a second of CPU time or more in one function, in each of THREADS threads: busy [THREADS]. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "looks.h"

__attribute__((noinline)) long burn(long n) {
    for (int i = 0; i < 100000; i++)
        __asm__ volatile("" : "+r"(n));
    return n;
}

static double used(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void *work(void *unused) {
    double end = used() + 0.5; /* the time to get here is not sampled */
    (void)unused;
    begin_looks(50);
    while (needs_looks() || used() < end)
        burn(1);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[16];
    int count = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    work(NULL);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
