/* Calls a function five times and ends as told. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static sem_t gate; /* opened while the first thread is past all functions of atexit */
static int waiting;

static void *at_the_gate(void *quickly) {
    sem_wait(&gate);
    if (quickly)
        quick_exit(3);
    exit(3);
}

static void open_gate(void) {
    for (int i = 0; i < waiting; i++)
        sem_post(&gate);
}

/* The first thread never comes back from here if others wait. */
__attribute__((destructor)) static void leave_to_others(void) {
    open_gate();
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
    if (strcmp(how, "together") == 0) { /* other threads exit while the first thread does */
        waiting = atoi(argv[2]);
        for (int i = 0; i < waiting; i++)
            pthread_create(&thread, NULL, at_the_gate, NULL);
        return 3;
    }
    if (strcmp(how, "crowd") == 0) { /* all threads exit at once */
        for (int i = 0; i < 30; i++)
            pthread_create(&thread, NULL, at_the_gate, argv[2]);
        waiting = 30;
        open_gate();
        waiting = 0;
        sem_post(&gate);
        at_the_gate(argv[2]);
    }
    if (strcmp(how, "pthread_exit") == 0) { /* eight calls */
        pthread_create(&thread, NULL, later, NULL);
        pthread_exit(NULL);
    }
    return 3;
}
