/* Uses half a second of CPU time in one function, in each of so many threads: busy [THREADS]. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) long burn(long n) {
    for (int i = 0; i < 10000; i++)
        __asm__ volatile("" : "+r"(n));
    return n;
}

static void *work(void *unused) {
    struct timespec now;
    (void)unused;
    do {
        burn(1);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 500000000);
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
