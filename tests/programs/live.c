/*
 * Counts its own calls in a file of its own, one counter for each thread, until it is killed: live COUNTERS THREADS.
 * It counts each call when the call is over. So a profile has the same number of calls or, for each thread, one more.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned long *counters;

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

static void *work(void *counter) {
    volatile unsigned long *own = counter;
    for (;;) {
        counted();
        ++*own;
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
    pthread_t thread;
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return 1;
    counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counters == MAP_FAILED)
        return 1;
    for (int i = 1; i < threads; i++)
        if (pthread_create(&thread, NULL, work, (void *)&counters[i]) != 0)
            return 1;
    work((void *)&counters[0]);
    return 0;
}
