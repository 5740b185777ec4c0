/*
 * Blocks signals and prints the results: masks WHAT.
 *
 *     real-time, all   blocks the real-time signals or all, sends itself each real-time signal with a value, and waits
 *                      for each
 *     sleep            blocks all, and counts the interruptions of a new thread's sleep
 *     own              handles signal 60, blocks all, and raises signal 60 in a new thread
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int handled;

static void handler(int signal) { handled = signal; }

/* The first call in its thread. */
__attribute__((noinline)) static void counted(void) { __asm__ volatile(""); }

static void *sleeps(void *unused) {
    struct timespec time = {0, 300000000};
    int cut = 0;
    counted();
    for (int turn = 0; turn < 3; turn++)
        cut += nanosleep(&time, NULL) != 0;
    printf("%d sleeps were cut short\n", cut);
    return unused;
}

static void *raises(void *unused) {
    counted();
    raise(60);
    printf("handled %d\n", handled);
    return unused;
}

static void in_thread(void *(*work)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) == 0)
        pthread_join(thread, NULL);
}

static int queued(void) {
    int received = 0;
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        sigqueue(getpid(), signal, (union sigval){.sival_int = signal});
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        struct timespec none = {0, 0};
        siginfo_t info;
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, signal);
        /* A timer of the runtime may have sent its signal before. */
        int came;
        do {
            came = sigtimedwait(&one, &info, &none);
        } while (came == signal && info.si_code == SI_TIMER);
        received += came == signal && info.si_value.sival_int == signal && info.si_code == SI_QUEUE;
    }
    return received;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    struct sigaction action = {.sa_handler = handler};
    sigset_t set, found;
    sigfillset(&set);
    if (strcmp(what, "real-time") == 0) {
        sigemptyset(&set);
        for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
            sigaddset(&set, signal);
    }
    if (strcmp(what, "own") == 0)
        sigaction(60, &action, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (strcmp(what, "sleep") == 0)
        in_thread(sleeps);
    else if (strcmp(what, "own") == 0)
        in_thread(raises);
    else
        printf("received %d\n", queued());
    sigprocmask(SIG_BLOCK, NULL, &found);
    printf("60 is blocked: %d\n", sigismember(&found, 60));
    return 0;
}
