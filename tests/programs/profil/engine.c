/*
 * The engine that all dialects use: buffers that change while several threads are counted, calls from anywhere,
 * neighbors that use SIGPROF, and the accuracy of the shares.
 */
#define _GNU_SOURCE
#include <gmon.h>
#include <sys/time.h>

#include "ticks.h"

enum { COUNTS = 1024, SIZE = COUNTS * sizeof(unsigned short), MOST = 16 };

static uintptr_t lowest(void) { return (HERE < THERE ? HERE : THERE) & ~(uintptr_t)63; }
static int on(void *buffer) { return gmon_profil_bsd(buffer, SIZE, lowest(), 65536); }
static int off(void) { return gmon_profil_bsd(NULL, 0, 0, 0); }

static int number(int otherwise) { return argument != NULL ? atoi(argument) : otherwise; }

/* Threads that send themselves ticks until told to stop, and let them in; each reports the number in the end. */
static volatile int stop;
static void *storm(void *function) {
    long sent = 0;
    sigset_t ticks;
    sigemptyset(&ticks);
    sigaddset(&ticks, SIGNAL_OF_PROFIL);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &ticks, NULL) == 0); /* whatever their creator has blocked */
    for (; !stop; sent += 10)
        tick((void (*)(long, long, long))function, 10);
    return (void *)sent;
}
static pthread_t stormers[4];
static void begin_storm(void) {
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&stormers[i], NULL, storm, i % 2 == 0 ? (void *)here : (void *)there) == 0);
}
static long end_storm(void) {
    long sent = 0;
    stop = 1;
    for (int i = 0; i < 4; i++) {
        void *one;
        CHECK(pthread_join(stormers[i], &one) == 0);
        sent += (long)one;
    }
    return sent;
}

/* A returned buffer: half of them are filled and watched; the others no longer exist. */
enum { WATCHED = 64, FILL = 0xa5 };
struct buffers {
    unsigned char *watched[WATCHED];
    int given_back;
};
static void give_back(struct buffers *buffers, unsigned char *buffer) {
    int place = buffers->given_back++ % WATCHED;
    if (place % 2 == 0) {
        CHECK(munmap(buffer - PAGE - (PAGE - SIZE), 3 * PAGE) == 0);
        return;
    }
    unsigned char *old = buffers->watched[place];
    for (int i = 0; old != NULL && i < SIZE; i++)
        CHECK(old[i] == FILL);
    if (old != NULL)
        CHECK(munmap(old - PAGE - (PAGE - SIZE), 3 * PAGE) == 0);
    memset(buffer, FILL, SIZE);
    buffers->watched[place] = buffer;
}
static void look_at_all(const struct buffers *buffers) {
    for (int place = 0; place < WATCHED; place++)
        for (int i = 0; buffers->watched[place] != NULL && i < SIZE; i++)
            CHECK(buffers->watched[place][i] == FILL);
}

/* The buffer changes while four threads are counted: every tick is in one of the buffers, and none anywhere else. */
static void buffers_change_under_four_threads(void) {
    static struct buffers buffers;
    unsigned char *current = before_a_wall(SIZE);
    long counted = 0, sent;
    CHECK(on(current) == 0);
    begin_storm();
    for (int i = number(1000); i > 0; i--) {
        unsigned char *next = before_a_wall(SIZE);
        CHECK(on(next) == 0);
        counted += sum(current, COUNTS);
        give_back(&buffers, current);
        current = next;
    }
    sent = end_storm();
    CHECK(off() == 0);
    counted += sum(current, COUNTS);
    look_at_all(&buffers);
    /* If a thread stayed with one buffer for long, its counts wrapped to 0. */
    long more = ((counted - sent) % 65536 + 65536) % 65536;
    printf("sent %ld, counted %ld\n", sent, counted);
    CHECK(sent > 0 && more <= CLOCK * 10);
}

/* Off and on again: nothing is written while it is off. */
static void it_is_switched_off_and_on_under_four_threads(void) {
    static struct buffers buffers;
    CHECK(on(before_a_wall(SIZE)) == 0);
    begin_storm();
    for (int i = number(1000); i > 0; i--) {
        unsigned char *buffer = before_a_wall(SIZE);
        CHECK(on(buffer) == 0);
        CHECK(off() == 0);
        give_back(&buffers, buffer);
    }
    end_storm();
    look_at_all(&buffers);
}

/* Every dialect in turn. */
static void dialects_take_turns_under_four_threads(void) {
    static struct buffers buffers;
    unsigned char *current = before_a_wall(SIZE);
    CHECK(on(current) == 0);
    begin_storm();
    for (int i = number(1000); i > 0; i--) {
        unsigned char *next = before_a_wall(SIZE);
        errno = 0;
        if (i % 4 == 0)
            CHECK(on(next) == 0);
        else if (i % 4 == 1)
            gmon_profil_illumos(next, SIZE, lowest(), 0xffff);
        else if (i % 4 == 2)
            gmon_profil_aix(next, SIZE, lowest(), 0xffff);
        else
            CHECK(gmon_pcsample((uintptr_t *)next, SIZE / sizeof(uintptr_t)) >= 0);
        CHECK(errno == 0);
        give_back(&buffers, current);
        current = next;
    }
    end_storm();
    CHECK(off() == 0);
    look_at_all(&buffers);
}

/* Several threads call it at once. The last call has the profile; each thread's former buffer belongs to the thread
 * again. */
static void *calls(void *unused) {
    struct buffers buffers = {{0}, 0};
    unsigned char *current = NULL;
    for (int i = number(1000); i > 0; i--) {
        unsigned char *next = before_a_wall(SIZE);
        CHECK(on(next) == 0);
        if (current != NULL)
            give_back(&buffers, current);
        current = next;
        tick(here, 3);
    }
    look_at_all(&buffers);
    return unused;
}
static void four_threads_call_it(void) {
    pthread_t threads[4];
    CHECK(on(before_a_wall(SIZE)) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, calls, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(off() == 0);
}

/* A signal handler calls it, whatever the handler interrupts: ticks, or a call. */
static unsigned char *in_use;
static struct buffers in_handler;
static volatile sig_atomic_t handled;
static unsigned char *spare[8192];
static void on_alarm(int unused) {
    (void)unused;
    int before = errno;
    if (handled >= number(2000))
        return;
    unsigned char *next = spare[handled++];
    CHECK(on(next) == 0);
    give_back(&in_handler, in_use);
    in_use = next;
    errno = before;
}
static void a_signal_handler_calls_it(void) {
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    struct itimerspec period = {{0, 100000}, {0, 100000}};
    timer_t timer;
    for (int i = 0; i < number(2000); i++)
        spare[i] = before_a_wall(SIZE);
    CHECK(on(in_use = before_a_wall(SIZE)) == 0);
    begin_storm();
    event._sigev_un._tid = thread_id();
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &period, NULL) == 0);
    while (handled < number(2000)) {
        tick(here, 10);
        CHECK(gmon_pcsample(NULL, -1) == -1 && errno == EINVAL); /* a call that is interrupted */
    }
    CHECK(timer_delete(timer) == 0);
    end_storm();
    CHECK(off() == 0);
    look_at_all(&in_handler);
}

/* A caller that blocks all signals still learns when the others' handlers have ended. */
static void sigprof_is_blocked_in_the_caller(void) {
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    it_is_switched_off_and_on_under_four_threads();
}

/* Children are made while other threads are in the middle of anything. */
static void forks_under_four_threads(void) {
    unsigned char *buffer = before_a_wall(SIZE);
    CHECK(on(buffer) == 0);
    begin_storm();
    for (int i = number(200); i > 0; i--) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            long before = sum(buffer, COUNTS);
            tick(here, 100);
            CHECK((sum(buffer, COUNTS) - before + 65536 * 4L) % 65536 >= 100);
            unsigned char *own = before_a_wall(SIZE);
            CHECK(on(own) == 0);
            tick(here, 100);
            CHECK(off() == 0 && is_about(sum(own, COUNTS), 100));
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    end_storm();
    CHECK(off() == 0);
}

/*
 * A program's own handler of SIGPROF, and its own timer that sends it. Where SIGPROF must serve for ticks as well, on
 * old systems and with a second thread, it gets its signals and no ticks.
 */
static void *sleeps(void *unused) {
    pause();
    return unused;
}
static void add_a_thread(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, sleeps, NULL) == 0);
}
static volatile long own_signals;
static void on_own(int number, siginfo_t *info, void *context) {
    CHECK(number == SIGPROF && info->si_signo == SIGPROF && context != NULL);
    own_signals++;
}
TICKS_BY(own_here, 27);
static void a_handler_of_its_own_gets_its_signals(void) {
    struct sigaction action = {.sa_sigaction = on_own, .sa_flags = SA_SIGINFO};
    struct itimerval period = {{0, 10000}, {0, 10000}};
    static unsigned short counts[4];
    unsigned char *buffer = before_a_wall(SIZE);
    add_a_thread();
    CHECK(sigaction(SIGPROF, &action, NULL) == 0);
    CHECK(on(buffer) == 0);
    burn(0.1);
    CHECK(own_signals == 0); /* ticks do not reach the program's handler, */
    tick(own_here, 1000);
    CHECK(own_signals == 1000 && sum(buffer, COUNTS) <= CLOCK); /* nor its signals the ticks */
    tick(here, 1000);
    CHECK(own_signals == 1000 && is_about(sum(buffer, COUNTS), 1000));
    CHECK(off() == 0 && setitimer(ITIMER_PROF, &period, NULL) == 0);
    while (own_signals < 1010)
        burn(0.01);
    double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    CHECK(gmon_profil_bsd(counts, sizeof counts, (uintptr_t)burn & ~(uintptr_t)0xffff, 2) == 0);
    burn(1);
    burn_until(counts, 4, 1);
    /* The signals of its timer would be as many again. An interval timer follows the system's ticks: a busy machine
       misses many, and at times there are more of them than CPU time. */
    CHECK(off() == 0 && sum(counts, 4) < 170 * (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start));
    long before = own_signals;
    while (own_signals < before + 10)
        burn(0.01);
    CHECK(getitimer(ITIMER_PROF, &period) == 0 && period.it_interval.tv_usec == 10000);
}

/* A handler that was installed later and calls the handler that it found, possibly ours. */
static struct sigaction found_by_own;
static void on_own_and_found(int number, siginfo_t *info, void *context) {
    own_signals++;
    if (found_by_own.sa_flags & SA_SIGINFO)
        found_by_own.sa_sigaction(number, info, context);
}
static void a_handler_that_calls_ours_does_not_go_round(void) {
    struct sigaction action = {.sa_sigaction = on_own_and_found, .sa_flags = SA_SIGINFO};
    unsigned char *first = before_a_wall(SIZE), *second = before_a_wall(SIZE);
    add_a_thread();
    CHECK(on(first) == 0);
    CHECK(sigaction(SIGPROF, &action, &found_by_own) == 0);
    tick(own_here, 100);
    CHECK(own_signals >= 100 && off() == 0);
    CHECK(on(second) == 0); /* now ours may be before it or after it */
    own_signals = 0;
    tick(own_here, 100);
    CHECK(own_signals == 100);
    tick(here, 100);
    CHECK(off() == 0 && is_about(sum(second, COUNTS), 100));
    tick(own_here, 100);
    CHECK(own_signals >= 200 && own_signals <= 200 + CLOCK);
}

/* Off, and a late tick kills nobody. */
static void a_late_tick_does_no_harm(void) {
    sigset_t profiling;
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGNAL_OF_PROFIL);
    CHECK(on(before_a_wall(SIZE)) == 0 && pthread_sigmask(SIG_BLOCK, &profiling, NULL) == 0);
    tick(here, 1);
    burn(0.1);
    CHECK(off() == 0 && pthread_sigmask(SIG_UNBLOCK, &profiling, NULL) == 0);
    burn(0.05);
}

/* Ticks that could not come in at once are not lost: all of them count where the thread was when they could. */
static void ticks_that_had_to_wait_count(void) {
    enum { PLACES = 4096 };
    static uintptr_t places[PLACES];
    sigset_t profiling, pending;
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGNAL_OF_PROFIL);
    CHECK(pthread_sigmask(SIG_BLOCK, &profiling, NULL) == 0);
    double before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    CHECK(gmon_pcsample(places, PLACES) == 0);
    double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    /* The kernel may notice late that a tick is due. Once the signal waits, it stands for all ticks until it comes. */
    int tries = 0;
    do {
        CHECK(tries++ < 20);
        burn(0.5);
        CHECK(sigpending(&pending) == 0);
    } while (!sigismember(&pending, SIGNAL_OF_PROFIL));
    CHECK(places[0] == 0);
    long due = 100 * (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &profiling, NULL) == 0);
    long stored = gmon_pcsample(NULL, 0);
    CHECK(due >= 50 && due <= PLACES && stored >= due);
    CHECK(stored <= 100 * (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - before));
    for (long i = 1; i < due; i++)
        CHECK(places[i] == places[0]);
}

/*
 * The seconds of CPU time in which a hundred ticks must come. They are due after one second; but ticks that the kernel
 * notices late are lost together if profiling is off at that moment, or the program is outside of its buffer's range.
 */
enum { LONG_FOR_A_HUNDRED = 10 };

/* A program that changes its buffer more often than there are ticks is profiled all the same. */
static void frequent_calls_do_not_keep_the_clock_away(void) {
    static unsigned short counts[4];
    double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + LONG_FOR_A_HUNDRED;
    while (sum(counts, 4) < 100) {
        CHECK(cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end);
        CHECK(gmon_profil_bsd(counts, sizeof counts, (uintptr_t)burn & ~(uintptr_t)0xffff, 2) == 0);
        burn(0.001);
    }
    CHECK(off() == 0);
}

/* A program that turns profiling off in between, all the time, is profiled too. */
static void turning_it_on_and_off_often_does_not_keep_the_clock_away(void) {
    static unsigned short counts[4];
    double used = 0;
    while (sum(counts, 4) < 100) {
        CHECK(used < LONG_FOR_A_HUNDRED);
        CHECK(gmon_profil_bsd(counts, sizeof counts, (uintptr_t)burn & ~(uintptr_t)0xffff, 2) == 0);
        double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
        burn(0.002);
        used += cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        CHECK(off() == 0);
        burn(0.001);
    }
}

/*
 * Two functions, one of which works three times as long as the other, in turns of uneven length. The truth is the CPU
 * time that each has used; the test that runs this says how far the ticks may differ. Ticks that the kernel notices
 * late come together, in one turn: the test needs the sum of the squares of the ticks in each turn.
 */
#if defined(__x86_64__)
#define ROUNDS ".balign 64\n1: dec %0\n jnz 1b"
#elif defined(__aarch64__)
#define ROUNDS ".balign 64\n1: subs %0, %0, #1\n b.ne 1b"
#endif
#define WORKER(NAME) \
    __attribute__((noinline, aligned(4096))) static void NAME(long rounds) { \
        __asm__ volatile(ROUNDS : "+r"(rounds) : : "cc"); \
    }
WORKER(major)
WORKER(minor)
static void shares_are_those_of_the_cpu_time(void) {
    uintptr_t functions[2] = {(uintptr_t)major, (uintptr_t)minor};
    struct timespec from, to;
    double used[2] = {0, 0}, squares = 0;
    long ticks = 0;
    unsigned long random = 1;
    static unsigned short all[8];
    uintptr_t low = functions[0] < functions[1] ? functions[0] : functions[1];
    const unsigned short *counts[2];
    for (int which = 0; which < 2; which++)
        counts[which] = &all[bin_of(functions[which] + 32, low, 32)];
    CHECK(gmon_profil_bsd(all, sizeof all, low, 32) == 0); /* a bin for each page */
    while (ticks < 100 * number(10)) {
        CHECK(used[0] + used[1] < 2 * number(10)); /* they are due after half of that */
        random = random * 6364136223846793005 + 1442695040888963407;
        long rounds = 100000 + (long)(random >> 47); /* 100,000 to 231,071 */
        for (int which = 0; which < 2; which++) {
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
            which == 0 ? major(3 * rounds) : minor(rounds);
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
            used[which] += (to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) / 1e9;
            long now = *counts[0] + *counts[1];
            squares += (double)(now - ticks) * (now - ticks);
            ticks = now;
        }
    }
    CHECK(off() == 0);
    printf("%u %u %f %f %f\n", *counts[0], *counts[1], used[0], used[1], squares);
}

TRIALS(TRIAL(buffers_change_under_four_threads), TRIAL(it_is_switched_off_and_on_under_four_threads),
       TRIAL(dialects_take_turns_under_four_threads), TRIAL(four_threads_call_it), TRIAL(a_signal_handler_calls_it),
       TRIAL(sigprof_is_blocked_in_the_caller), TRIAL(forks_under_four_threads),
       TRIAL(a_handler_of_its_own_gets_its_signals), TRIAL(a_handler_that_calls_ours_does_not_go_round), TRIAL(a_late_tick_does_no_harm),
       TRIAL(ticks_that_had_to_wait_count), TRIAL(frequent_calls_do_not_keep_the_clock_away),
       TRIAL(turning_it_on_and_off_often_does_not_keep_the_clock_away),
       TRIAL(shares_are_those_of_the_cpu_time))
