/* Calls a function five times and ends as told. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

static void *forever(void *unused) {
    for (;;)
        counted();
    return unused;
}

static void *later(void *unused) {
    usleep(10000);
    for (int i = 0; i < 3; i++)
        counted();
    return unused;
}

static sem_t gate;  /* opened while the first thread is past all functions of atexit */
static int waiting; /* how many threads wait for that */

static void *at_the_gate(void *quickly) {
    sem_wait(&gate);
    if (quickly)
        quick_exit(3);
    exit(3);
}

static void open_gate(int threads) {
    for (int i = 0; i < threads; i++)
        sem_post(&gate);
}

/* Whether other threads can exit while the first thread is in `exit`. From version 2.41 on, glibc's `exit` holds a
   lock, and other C libraries may do so too. */
static int exits_together(void) {
#ifdef __GLIBC__
    int major, minor;
    return sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 && major == 2 && minor < 41;
#else
    return 0;
#endif
}

/* The first thread never comes back from here if others wait. */
__attribute__((destructor)) static void leave_to_others(void) {
    open_gate(waiting);
    while (waiting)
        pause();
}

static void own_handler(int signal) {
    (void)signal;
    counted();
    _exit(9);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "return";
    pthread_t thread;
    for (int i = 0; i < 5; i++)
        counted();
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "_Exit") == 0)
        _Exit(3);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "null") == 0)
        *(volatile int *)8 = 0;
    if (strcmp(how, "divide") == 0) {
        volatile int zero = 0;
        return 1 / zero;
    }
    if (strcmp(how, "illegal") == 0)
        __builtin_trap();
    if (strcmp(how, "wild") == 0)
        *(volatile int *)0x8000000000000000 = 0; /* no address at all: the kernel says SI_KERNEL */
    if (strcmp(how, "raise") == 0)
        raise(atoi(argv[2]));
    if (strcmp(how, "kill") == 0)
        kill(getpid(), atoi(argv[2]));
    if (strcmp(how, "ignored") == 0) {
        signal(SIGTERM, SIG_IGN);
        raise(SIGTERM);
        return 3;
    }
    if (strcmp(how, "own") == 0) { /* six calls */
        signal(SIGTERM, own_handler);
        raise(SIGTERM);
    }
    if (strcmp(how, "threads") == 0) { /* main returns while other threads run */
        for (int i = 0; i < 4; i++)
            pthread_create(&thread, NULL, forever, NULL);
        return 3;
    }
    if (strcmp(how, "together") == 0) { /* other threads exit while the first thread does; 77 if they cannot */
        if (!exits_together())
            return 77;
        waiting = atoi(argv[2]);
        for (int i = 0; i < waiting; i++)
            pthread_create(&thread, NULL, at_the_gate, NULL);
        return 3;
    }
    if (strcmp(how, "crowd") == 0) { /* all threads exit at once */
        for (int i = 0; i < 30; i++)
            pthread_create(&thread, NULL, at_the_gate, argv[2]);
        open_gate(31); /* `waiting` is 0, so a thread that is past all functions of atexit goes on */
        at_the_gate(argv[2]);
    }
    if (strcmp(how, "pthread_exit") == 0) { /* eight calls */
        pthread_create(&thread, NULL, later, NULL);
        pthread_exit(NULL);
    }
    return 3;
}
