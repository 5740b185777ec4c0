/* Sets handlers for the sampling signal, sends the signal in several ways, and is busy. Prints what the handlers get.
   */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "looks.h"

enum { SIGNAL = 60, WANTED_LOOKS = 48, BY_PROGRAM = 0x4000000 /* some C libraries show this flag of theirs */ };

static volatile int signals, codes[3], last_value, usr1_blocked, own_blocked;

static void plain(int signal) { signals += signal == SIGNAL; }

static void detailed(int signal, siginfo_t *info, void *context) {
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    usr1_blocked = sigismember(&blocked, SIGUSR1);
    own_blocked = sigismember(&blocked, SIGNAL);
    signals += signal == SIGNAL && context != NULL;
    codes[info->si_code == SI_TIMER ? 0 : info->si_code == SI_QUEUE ? 1 : 2]++;
    last_value = info->si_value.sival_int;
}

static void show(const char *when) {
    struct sigaction found;
    sigaction(SIGNAL, NULL, &found);
    const char *handler = found.sa_handler == plain                ? "plain"
                          : found.sa_sigaction == detailed         ? "detailed"
                          : found.sa_handler == SIG_DFL            ? "default"
                          : found.sa_handler == SIG_IGN            ? "ignored"
                                                                   : "unknown";
    printf("%s: %s, flags %#x, USR1 %d, KILL %d; %d signals, codes %d %d %d, value %d, blocked %d %d\n", when, handler,
           found.sa_flags & ~BY_PROGRAM, sigismember(&found.sa_mask, SIGUSR1), sigismember(&found.sa_mask, SIGKILL),
           signals, codes[0], codes[1], codes[2], last_value, usr1_blocked, own_blocked);
    fflush(stdout);
}

/* Is busy for half a second of CPU time, and until the kernel has looked often enough. */
__attribute__((noinline)) static void busy(void) {
    begin_looks(WANTED_LOOKS);
    for (clock_t end = clock() + CLOCKS_PER_SEC / 2; needs_looks() || clock() < end;)
        for (volatile int i = 0; i < 10000; i++) {
        }
}

static void send(void) {
    union sigval value = {.sival_int = 7};
    raise(SIGNAL);
    kill(getpid(), SIGNAL);
    sigqueue(getpid(), SIGNAL, value);
}

static void set(int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = detailed;
    action.sa_flags = flags;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaddset(&action.sa_mask, SIGKILL); /* which nothing blocks */
    sigaction(SIGNAL, &action, NULL);
}

/* Blocks all signals, starts a timer, and takes the timer's signal, which has to wait for this. */
static void take_blocked(timer_t timer) {
    struct itimerspec once = {.it_value.tv_nsec = 1};
    struct timespec no_time = {0, 0};
    sigset_t all, own, pending;
    siginfo_t info = {.si_code = 0};
    sigfillset(&all);
    sigemptyset(&own);
    sigaddset(&own, SIGNAL);
    sigprocmask(SIG_SETMASK, &all, NULL);
    timer_settime(timer, 0, &once, NULL);
    for (time_t end = time(NULL) + 100; time(NULL) < end;) {
        sigpending(&pending);
        if (sigismember(&pending, SIGNAL))
            break;
    }
    int taken = sigtimedwait(&own, &info, &no_time);
    printf("took %d, code %d, value %d\n", taken, info.si_code, info.si_value.sival_int);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

int main(void) {
    show("at first");
    for (int number = 1; number < 65; number++)
        signal(number, plain);
    show("signal");
    busy();
    show("busy");
    send();
    set(SA_SIGINFO);
    send();
    show("sent");
    set(SA_SIGINFO | SA_NODEFER | SA_RESTART | SA_ONSTACK);
    send();
    show("more flags");
    set(SA_SIGINFO | SA_RESETHAND);
    raise(SIGNAL);
    show("once");
    printf("%d\n", sigset(SIGNAL, SIG_IGN) == SIG_DFL);
    send();
    show("ignored");
    set(SA_SIGINFO);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL, .sigev_value.sival_int = 9};
    struct itimerspec once = {.it_value.tv_nsec = 1};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &once, NULL);
    while (codes[0] == 0) {
    }
    busy();
    show("a timer");
    take_blocked(timer);
    show("blocked");
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(SIGNAL, &action, NULL);
    take_blocked(timer);
    show("at last");
    return 0;
}
