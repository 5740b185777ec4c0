/*
 * Threads that live for a given time: lives MICROSECONDS AT-ONCE MEETINGS RATE
 *
 * Each thread works in `first` for a third of the time, and in `second` for the rest. The program makes AT-ONCE
 * threads, waits for them, and goes on until ticks of the kernel have met threads MEETINGS times.
 *
 * The program computes how many ticks the runtime should count in each function, and the variance of the number. A
 * timer of each thread expires at each tick of the kernel that meets the thread. So the program knows when the kernel
 * can notice an expiry of the runtime's timer, however the scheduler places the threads between the ticks. What the
 * runtime makes of these moments depends on the phase of the timer, which differs from thread to thread: the program
 * computes the ticks of all phases by the rule of docs/runtime.md.
 *
 * The runtime starts the timer somewhere in the first call of a thread. A thread often begins at a tick of the kernel,
 * so the next tick of the kernel comes about a period later: some microseconds decide whether the timer has expired
 * once or twice. The program computes both, for a start before the call and for a start after the call.
 *
 * The program prints the length of a tick in seconds, the meetings, the least and the most ticks to expect in `first`
 * and their variance, the same for `second`, the number of threads, and the CPU time of the process.
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

enum { EXPIRY = SIGUSR1, SAMPLING_SIGNAL = 60, MOST_THREADS = 64, MOST_SECONDS = 100, PHASES = 64 };
enum { BEFORE, AFTER, STARTS };
enum { FIRST, SECOND, FUNCTIONS };

static long length_of_first, length_of_second;
static int is_long;
/* In seconds. */
static double tick, period;
static double least[FUNCTIONS], most[FUNCTIONS], variance[FUNCTIONS];
static long meetings;
static pthread_mutex_t sums = PTHREAD_MUTEX_INITIALIZER;

/* What the runtime's timer of this thread would do if it had one of the phases. */
struct phase {
    double due;    /* the CPU time of the next tick */
    double second; /* the time from the tick that is noticed first to the next one */
    int place;     /* the function with the latest tick; FUNCTIONS before the first tick */
    double ticks[FUNCTIONS];
};
static __thread struct phase phases[STARTS][PHASES];
/* The function that runs; FUNCTIONS while the thread does something else. */
static __thread volatile int function = FUNCTIONS;
static __thread volatile long met;

BUSY void first(long turns) {
    for (volatile long turn = 0; turn < turns; turn++)
        ;
}
/* A thread of a long life ends when the kernel has noticed all ticks that are due, however late the kernel looks. */
BUSY void second(long turns) {
    for (volatile long turn = 0; turn < turns; turn++)
        ;
    for (long looks = met; is_long && looks == met;)
        ;
}

QUIET static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Rates above that of the kernel's ticks: the kernel notices all ticks since its last look together. */
static int is_fast(void) { return period < tick; }

/* The ticks that are due at a CPU time. */
QUIET static double ticks_due(const struct phase *phase, double time) {
    return time < phase->due ? 0 : 1 + (long)((time - phase->due) / period);
}

QUIET static void on_expiry(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    if (function == FUNCTIONS)
        return;
    met += is_fast() ? 1 + info->si_overrun : 1;
    double time = now(CLOCK_THREAD_CPUTIME_ID);
    for (struct phase *phase = phases[0]; phase < phases[STARTS]; phase++) {
        double ticks = is_fast() ? (1 + info->si_overrun) * tick / period : ticks_due(phase, time);
        if (ticks == 0)
            continue;
        phase->ticks[function] += ticks;
        phase->due += ticks * period;
        if (phase->place == FUNCTIONS && ticks == 1)
            phase->due = time + phase->second;
        phase->place = function;
    }
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
    /* Due at each tick of the kernel. For fast rates the overruns count the kernel's ticks. */
    struct itimerspec soon = {{0, is_fast() ? tick * 1e9 : 1000}, {0, 1}};
    int timer;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        exit(77);
    syscall(SYS_timer_settime, timer, 0, &soon, NULL);
}

/* Sets the phases of a timer that starts at a CPU time. */
QUIET static void begin_phases(struct phase *phases, double time) {
    for (int i = 0; i < PHASES; i++) {
        double within = period * (i + 0.5) / PHASES;
        double rest = within - (long)(within / tick) * tick;
        phases[i] = (struct phase){.due = time + within - rest, .second = period + rest - tick, .place = FUNCTIONS};
    }
}

/* Adds the thread's ticks to the sums. Ticks that are due when a thread ends count where its latest tick was, except
   those that the kernel would notice at its next tick. */
QUIET static void end_phases(void) {
    double time = now(CLOCK_THREAD_CPUTIME_ID) - tick;
    for (struct phase *phase = phases[0]; phase < phases[STARTS] && !is_fast(); phase++)
        if (phase->place != FUNCTIONS)
            phase->ticks[phase->place] += ticks_due(phase, time);
    pthread_mutex_lock(&sums);
    meetings += met;
    for (int place = FIRST; place < FUNCTIONS; place++) {
        double mean[STARTS], around[STARTS];
        for (int start = BEFORE; start < STARTS; start++) {
            double sum = 0, squares = 0;
            for (struct phase *phase = phases[start]; phase < phases[start + 1]; phase++) {
                sum += phase->ticks[place];
                squares += phase->ticks[place] * phase->ticks[place];
            }
            mean[start] = sum / PHASES;
            around[start] = squares / PHASES - mean[start] * mean[start];
        }
        int is_less = mean[AFTER] < mean[BEFORE], is_narrow = around[AFTER] < around[BEFORE];
        least[place] += mean[is_less ? AFTER : BEFORE];
        most[place] += mean[is_less ? BEFORE : AFTER];
        variance[place] += around[is_narrow ? BEFORE : AFTER];
    }
    pthread_mutex_unlock(&sums);
}

QUIET static void *live(void *nothing) {
    begin();
    double before = now(CLOCK_THREAD_CPUTIME_ID);
    /* The runtime gives the thread its timer here. */
    first(1);
    double after = now(CLOCK_THREAD_CPUTIME_ID);
    begin_phases(phases[BEFORE], before);
    begin_phases(phases[AFTER], after);
    function = FIRST;
    first(length_of_first);
    function = SECOND;
    second(length_of_second);
    function = FUNCTIONS;
    end_phases();
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
    if (argc != 5)
        return 2;
    double microseconds = atof(argv[1]);
    int at_once = atoi(argv[2]);
    long wanted = atol(argv[3]);
    pthread_t threads[MOST_THREADS];
    long all = 1;
    struct timespec resolution;
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
    tick = resolution.tv_nsec * 1e-9;
    period = 1 / atof(argv[4]);
    handle_expiries();
    length_of_first = microseconds / 3 * speed();
    is_long = microseconds >= 1e6;
    length_of_second = 2 * length_of_first;
    while (meetings < wanted && now(CLOCK_PROCESS_CPUTIME_ID) < MOST_SECONDS) {
        for (int i = 0; i < at_once; i++)
            if (pthread_create(&threads[i], NULL, live, NULL) != 0)
                return 99;
        for (int i = 0; i < at_once; i++)
            pthread_join(threads[i], NULL);
        all += at_once;
    }
    printf("%.9f %ld %.6f %.6f %.6f %.6f %.6f %.6f %ld %.6f\n", tick, meetings, least[FIRST], most[FIRST],
           variance[FIRST], least[SECOND], most[SECOND], variance[SECOND], all, now(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
