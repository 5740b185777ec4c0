/*
 * Programs to sample. Each spends CPU time, measured by its own clock, in functions with known names. Where ticks must
 * come, the time is longer on a machine whose kernel looks at the timers of CPU time too rarely.
 *
 *     sampled two            two threads that do the same, in `first` and in `second`; prints the work of each
 *     sampled long           the same for four times as long
 *     sampled poll           a thread that is busy while the first one sleeps; prints how often that was interrupted
 *     sampled own            a handler of SIGPROF and an interval timer of its own; prints the number of signals, and
 *                            the milliseconds by the clock of such timers and by the clock of the thread
 *     sampled thief          a handler of its own for the signal that the runtime uses, by a system call
 *     sampled quiet SECONDS  two threads that call no profiled function, each busy for so long
 *     sampled blocked        threads that were made while every signal was blocked
 *     sampled deaf SECONDS   a thread that blocks every signal for so long
 *     sampled mute SECONDS   executes itself with blocked signals: from its start, no tick gets in
 *     sampled again SECONDS  the same, then moncontrol(1), although samples are counted already
 *     sampled fork           a child that is busy
 *     sampled exec PROGRAM   executes another program while it is sampled
 *     sampled asleep         sleeps, in `asleep`
 *     sampled stopped        is busy in `first`, in `second` while nothing is counted, and in `first` again
 *     sampled alone SECONDS  is busy in `first`; prints its work
 *     sampled ended          is busy in `first` in a thread that ends, and then sleeps; prints the milliseconds of real
 *                            time in that thread
 *     sampled late           is busy in `first` in a thread that finally blocks signals, until samples are stopped;
 *                            prints the milliseconds of real time
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gmon.h>
#include "looks.h"

#define QUIET __attribute__((no_instrument_function, noinline))
#define BUSY static __attribute__((noinline, noclone, aligned(64)))

QUIET static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* The time in which the thread made no progress and its clock went on: a virtual machine that was paused got no
 * interrupts. */
static __thread double paused;
enum { WANTED_LOOKS = 48 };

/* Busy until this much time has passed and the kernel has looked often enough, nearly all of it in the function
 * itself. */
#define UNTIL(clock, seconds)                                                                 \
    double before = now(clock), end = before + (seconds);                                     \
    while (needs_looks() || before < end) {                                                   \
        for (volatile int i = 0; i < 200000; i++)                                             \
            ;                                                                                 \
        double after = now(clock);                                                            \
        if (after - before > 0.002)                                                           \
            paused += after - before;                                                         \
        before = after;                                                                       \
    }

static clockid_t clock_of_first = CLOCK_THREAD_CPUTIME_ID;
BUSY void first(double seconds) { UNTIL(clock_of_first, seconds) }
BUSY void second(double seconds) { UNTIL(CLOCK_THREAD_CPUTIME_ID, seconds) }
QUIET static void uncalled(double seconds) { UNTIL(CLOCK_THREAD_CPUTIME_ID, seconds) }

/* What a thread did: its CPU time in seconds, without pauses too, the seconds of which the kernel noticed the end, and
   how often the thread lost the processor. */
struct work {
    double used, unpaused, noticed;
    long switches;
};

QUIET static struct work done(void) {
    double used = now(CLOCK_THREAD_CPUTIME_ID);
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (struct work){used, used - paused, (double)noticed / LOOKS_PER_SECOND, usage.ru_nvcsw + usage.ru_nivcsw};
}

static void print_work(const char *function, struct work work) {
    printf("%s %.3f %.3f %.3f %ld\n", function, work.used, work.unpaused, work.noticed, work.switches);
}

static double seconds_of_thread;
static struct work of_first, of_second;

static void *in_first(void *nothing) {
    begin_looks(WANTED_LOOKS);
    first(seconds_of_thread);
    of_first = done();
    return nothing;
}
static void *in_second(void *nothing) {
    begin_looks(WANTED_LOOKS);
    second(seconds_of_thread);
    of_second = done();
    return nothing;
}
QUIET static void *in_uncalled(void *nothing) {
    uncalled(seconds_of_thread);
    return nothing;
}

static void both(void *(*one)(void *), void *(*other)(void *), double seconds) {
    pthread_t threads[2];
    seconds_of_thread = seconds;
    if (pthread_create(&threads[0], NULL, one, NULL) != 0 || pthread_create(&threads[1], NULL, other, NULL) != 0)
        exit(99);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (one == in_first) {
        print_work("first", of_first);
        print_work("second", of_second);
    }
}

static void sleeps_while_another_is_busy(void) {
    pthread_t thread;
    int woken = 0;
    seconds_of_thread = 3;
    if (pthread_create(&thread, NULL, in_first, NULL) != 0)
        exit(99);
    /* It sleeps all the time except for a few microseconds, so every signal finds it asleep. */
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        if (poll(NULL, 0, 20) == -1 && errno == EINTR)
            woken++;
    printf("woken %d\n", woken);
}

static volatile long own;
QUIET static void on_signal(int signal) {
    (void)signal;
    own++;
}

/* The clock of the process by which the kernel runs ITIMER_PROF: whole kernel ticks, unlike all other clocks of CPU
 * time. */
static const clockid_t clock_of_interval_timers = ~0u << 3;

static void own_timer(void) {
    struct itimerval period = {{0, 20000}, {0, 20000}};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    double by_ticks = now(clock_of_interval_timers), by_thread = now(CLOCK_THREAD_CPUTIME_ID);
    setitimer(ITIMER_PROF, &period, NULL);
    /* On a busy machine, the kernel is late with the program's signals too. */
    for (int seconds = 0; own < 2 && seconds < 60; seconds++)
        first(1.0);
    memset(&period, 0, sizeof period);
    setitimer(ITIMER_PROF, &period, NULL);
    by_ticks = now(clock_of_interval_timers) - by_ticks, by_thread = now(CLOCK_THREAD_CPUTIME_ID) - by_thread;
    printf("own %ld in %.0f and %.0f\n", own, by_ticks * 1000, by_thread * 1000);
}

static void signals(int how) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(how, &all, NULL);
}

/* The same without the C library. */
static void raw_signals(int how) {
    unsigned long all = ~0ul;
    syscall(SYS_rt_sigprocmask, how, &all, NULL, sizeof all);
}

/* Executes this program with other words, and with all signals blocked but SIGHUP: with that one too, the runtime would
   let its signal in. A program that blocks signals itself may get ticks before. */
static void execute_mute(char *what, char *seconds) {
    char *words[] = {"sampled", what, seconds, NULL};
    raw_signals(SIG_BLOCK);
    unsigned long one = 1ul << (SIGHUP - 1);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, NULL, sizeof one);
    execv("/proc/self/exe", words);
    exit(99);
}

static int from_thread[2], to_thread[2];
/* When a thread started, and when it blocked all signals, in seconds. */
static double started, blocked;

static void *late(void *nothing) {
    char byte = 0;
    started = now(CLOCK_MONOTONIC);
    first(0.3);
    raw_signals(SIG_BLOCK);
    blocked = now(CLOCK_MONOTONIC);
    first(0.1);
    if (write(from_thread[1], &byte, 1) != 1 || read(to_thread[0], &byte, 1) != 1)
        exit(99);
    return nothing;
}

static void *by_the_wall(void *nothing) {
    double start = now(CLOCK_MONOTONIC);
    first(0.1);
    printf("%.0f\n", (now(CLOCK_MONOTONIC) - start) * 1000);
    return nothing;
}

static void sleeps_after_a_thread_has_ended(void) {
    pthread_t thread;
    clock_of_first = CLOCK_MONOTONIC;
    if (pthread_create(&thread, NULL, by_the_wall, NULL) != 0)
        exit(99);
    pthread_join(thread, NULL);
    usleep(200000);
}

/* The runtime counts ticks that blocked signals hide only for a quarter of a second. On a busy machine a turn may take
   longer: then there is another turn. Prints the number of turns, and for how many milliseconds there must be ticks. */
static void stops_while_a_thread_lets_no_signals_in(void) {
    double ticking = 0, hidden;
    int turns = 0;
    clock_of_first = CLOCK_MONOTONIC;
    if (pipe(from_thread) != 0 || pipe(to_thread) != 0)
        exit(99);
    do {
        pthread_t thread;
        char byte = 0;
        moncontrol(1);
        if (pthread_create(&thread, NULL, late, NULL) != 0)
            exit(99);
        while (read(from_thread[0], &byte, 1) != 1) {
        }
        double end = now(CLOCK_MONOTONIC);
        moncontrol(0);
        hidden = now(CLOCK_MONOTONIC) - blocked;
        ticking += (hidden < 0.2 ? end : blocked) - started;
        turns++;
        if (write(to_thread[1], &byte, 1) != 1)
            exit(99);
        pthread_join(thread, NULL);
    } while (hidden >= 0.2);
    printf("%d %.0f\n", turns, ticking * 1000);
}

static void child(void) {
    pid_t pid = fork();
    begin_looks(WANTED_LOOKS);
    if (pid == 0) {
        second(1.0);
        exit(0);
    }
    first(0.4);
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        exit(99);
    printf("child %d\n", (int)pid);
}

/* nanosleep, with the system call here and not in the C library: this is where the program is while it sleeps. */
BUSY void asleep(double seconds) {
    double end = now(CLOCK_MONOTONIC) + seconds;
    while (now(CLOCK_MONOTONIC) < end) {
        struct timespec time = {0, 50000000};
        long result = SYS_nanosleep;
        __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0L) : "rcx", "r11", "memory");
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    if (strcmp(what, "two") == 0) {
        both(in_first, in_second, 1.0);
    } else if (strcmp(what, "long") == 0) {
        both(in_first, in_second, 4.0);
    } else if (strcmp(what, "poll") == 0) {
        sleeps_while_another_is_busy();
    } else if (strcmp(what, "own") == 0) {
        own_timer();
    } else if (strcmp(what, "thief") == 0) {
        unsigned long action[4]; /* the kernel's structure: handler, flags, restorer, mask */
        syscall(SYS_rt_sigaction, 60, NULL, action, 8);
        action[0] = (unsigned long)on_signal;
        syscall(SYS_rt_sigaction, 60, action, NULL, 8);
        first(0.3);
    } else if (strcmp(what, "quiet") == 0) {
        both(in_uncalled, in_uncalled, seconds);
    } else if (strcmp(what, "blocked") == 0) {
        signals(SIG_BLOCK);
        both(in_first, in_second, 1.5);
        signals(SIG_UNBLOCK);
    } else if (strcmp(what, "deaf") == 0) {
        /* On one processor, because each processor has its own ring. */
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof one, &one);
        raw_signals(SIG_BLOCK);
        first(seconds);
        raw_signals(SIG_UNBLOCK);
        second(0.1);
    } else if (strcmp(what, "mute") == 0) {
        execute_mute("muted", argv[2]);
    } else if (strcmp(what, "again") == 0) {
        execute_mute("muted again", argv[2]);
    } else if (strcmp(what, "muted") == 0) {
        first(seconds);
    } else if (strcmp(what, "muted again") == 0) {
        first(seconds);
        moncontrol(1);
    } else if (strcmp(what, "fork") == 0) {
        child();
    } else if (strcmp(what, "exec") == 0) {
        first(0.1);
        execv(argv[2], argv + 2);
        return 99;
    } else if (strcmp(what, "asleep") == 0) {
        asleep(0.6);
    } else if (strcmp(what, "stopped") == 0) {
        begin_looks(WANTED_LOOKS);
        first(0.6);
        moncontrol(0);
        second(0.5);
        moncontrol(1);
        begin_looks(WANTED_LOOKS);
        first(0.6);
    } else if (strcmp(what, "ended") == 0) {
        sleeps_after_a_thread_has_ended();
    } else if (strcmp(what, "late") == 0) {
        stops_while_a_thread_lets_no_signals_in();
    } else if (strcmp(what, "alone") == 0) {
        begin_looks(seconds > 0 ? WANTED_LOOKS : 0);
        first(seconds);
        print_work("first", done());
    } else {
        return 2;
    }
    return 0;
}
