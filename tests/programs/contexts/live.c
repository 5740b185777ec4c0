/*
 * Does what the lines on standard input say, and prints "done" after each. Nothing is sampled while the program waits
 * for a line.
 *
 *     burn NUMBER          takes so many samples in `outer`, which calls `burn`
 *     threads T NUMBER     the same in T threads at a time
 *     paths NUMBER         takes samples in so many calling contexts
 *     open PATH NUMBER     loads an object and takes samples in it
 *     close                closes the object
 *     fork NUMBER          a child takes samples, and waits until it is killed; prints "child PID"
 *     dump                 writes a snapshot
 *     forever T            T threads take samples until the program ends
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "truth.h"

BURN(burn)

extern void gmon_dump(void) __attribute__((weak));

OWN void outer(long n) {
    burn(n);
    __asm__ volatile("");
}

/* One of 2 to the power of `bits` paths. */
OWN void left(unsigned path, int bits);
OWN void right(unsigned path, int bits);

QUIET void branch(unsigned path, int bits) {
    if (bits == 0)
        burn(1);
    else if (path & 1)
        left(path >> 1, bits - 1);
    else
        right(path >> 1, bits - 1);
    __asm__ volatile("");
}

OWN void left(unsigned path, int bits) { branch(path, bits); }
OWN void right(unsigned path, int bits) { branch(path, bits); }

static void *in_thread(void *number) {
    outer((long)number);
    return NULL;
}

static void *forever(void *unused) {
    for (;;)
        outer(10);
    return unused;
}

static void *opened;

static void obey(const char *line) {
    char path[256];
    long number = 0;
    int threads = 0;
    pthread_t started[16];
    if (sscanf(line, "burn %ld", &number) == 1) {
        outer(number);
    } else if (sscanf(line, "threads %d %ld", &threads, &number) == 2 && threads <= 16) {
        for (int thread = 0; thread < threads; thread++)
            if (pthread_create(&started[thread], NULL, in_thread, (void *)number) != 0)
                abort();
        for (int thread = 0; thread < threads; thread++)
            pthread_join(started[thread], NULL);
    } else if (sscanf(line, "paths %ld", &number) == 1) {
        for (unsigned path = 0; path < number; path++)
            branch(path, 20);
    } else if (sscanf(line, "open %255s %ld", path, &number) == 2) {
        opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        long (*serve)(long) = opened ? (long (*)(long))dlsym(opened, "serve") : NULL;
        if (!serve || serve(number) != number)
            abort();
    } else if (strncmp(line, "close", 5) == 0) {
        if (dlclose(opened) != 0)
            abort();
    } else if (sscanf(line, "fork %ld", &number) == 1) {
        int ready[2];
        if (pipe(ready) != 0)
            abort();
        pid_t pid = fork();
        if (pid == 0) {
            outer(number);
            if (write(ready[1], "", 1) != 1)
                abort();
            for (;;)
                pause();
        }
        if (read(ready[0], path, 1) != 1)
            abort();
        printf("child %d\n", (int)pid);
    } else if (strncmp(line, "dump", 4) == 0) {
        gmon_dump();
    } else if (sscanf(line, "forever %d", &threads) == 1 && threads <= 16) {
        for (int thread = 0; thread < threads; thread++)
            if (pthread_create(&started[thread], NULL, forever, NULL) != 0)
                abort();
    } else {
        abort();
    }
}

int main(void) {
    char line[300];
    by_hand = 1;
    while (fgets(line, sizeof line, stdin)) {
        obey(line);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
