/*
 * Threads that live for a given time: lives MICROSECONDS AT-ONCE EXPIRIES
 *
 * Each thread works in `first` for a third of the time, and in `second` for the rest. The program makes AT-ONCE
 * threads, waits for them, and goes on until the kernel has noticed EXPIRIES expiries of the threads' own timers. Such
 * a timer expires at each tick of the kernel that meets its thread, so its expiries say what the runtime's timer can
 * have met, however the scheduler places the threads between the ticks. The program prints the length of a tick in
 * seconds, the expiries in each function, the number of threads, and the CPU time of the process.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function, noinline))
#define BUSY static __attribute__((noinline, noclone, aligned(64)))

enum { EXPIRY = SIGUSR1, SAMPLING_SIGNAL = 60, MOST_THREADS = 64, MOST_SECONDS = 100 };

static long length_of_first, length_of_second;
static struct timespec tick;
static long in_first, in_second;

BUSY void first(long turns) {
    for (volatile long turn = 0; turn < turns; turn++)
        ;
}
BUSY void second(long turns) {
    for (volatile long turn = 0; turn < turns; turn++)
        ;
}

QUIET static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static __thread volatile long expiries;

QUIET static void on_expiry(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    expiries += 1 + info->si_overrun;
}

/* The runtime's signal has to wait while the handler runs, so the handler is never sampled. */
QUIET static void handle_expiries(void) {
    struct sigaction action = {.sa_sigaction = on_expiry, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaddset(&action.sa_mask, SAMPLING_SIGNAL);
    sigaction(EXPIRY, &action, NULL);
}

QUIET static void begin(void) {
    /* The kernel's form of struct sigevent: the C libraries do not agree on the name of the thread's number. */
    struct {
        long value;
        int signal, notify, thread, rest[11];
    } event = {.signal = EXPIRY, .notify = 4 /* SIGEV_THREAD_ID */, .thread = syscall(SYS_gettid)};
    struct itimerspec soon = {tick, {0, 1}};
    int timer;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        exit(77);
    syscall(SYS_timer_settime, timer, 0, &soon, NULL);
}

/* The expiries that the kernel noticed since the last call. */
QUIET static long take(void) {
    long found = expiries;
    expiries = 0;
    return found;
}

QUIET static void *live(void *nothing) {
    begin();
    /* The runtime gives the thread its timer here. */
    first(1);
    take();
    first(length_of_first);
    __atomic_fetch_add(&in_first, take(), __ATOMIC_RELAXED);
    second(length_of_second);
    __atomic_fetch_add(&in_second, take(), __ATOMIC_RELAXED);
    return nothing;
}

/* The turns of a loop in a microsecond, at the fastest. */
QUIET static double speed(void) {
    const long turns = 1000000;
    double best = 0;
    for (int attempt = 0; attempt < 5; attempt++) {
        double before = now(CLOCK_THREAD_CPUTIME_ID);
        for (volatile long turn = 0; turn < turns; turn++)
            ;
        double found = turns / (now(CLOCK_THREAD_CPUTIME_ID) - before) * 1e-6;
        if (found > best)
            best = found;
    }
    return best;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    double microseconds = atof(argv[1]);
    int at_once = atoi(argv[2]);
    long wanted = atol(argv[3]);
    pthread_t threads[MOST_THREADS];
    long all = 1;
    handle_expiries();
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    length_of_first = microseconds / 3 * speed();
    length_of_second = 2 * length_of_first;
    while (in_first + in_second < wanted && now(CLOCK_PROCESS_CPUTIME_ID) < MOST_SECONDS) {
        for (int i = 0; i < at_once; i++)
            if (pthread_create(&threads[i], NULL, live, NULL) != 0)
                return 99;
        for (int i = 0; i < at_once; i++)
            pthread_join(threads[i], NULL);
        all += at_once;
    }
    printf("%.9f %ld %ld %ld %.6f\n", tick.tv_nsec * 1e-9, in_first, in_second, all, now(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
