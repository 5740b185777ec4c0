// Time and timers, which advance with ticks of the profiling clock.
#include "bsd.h"

static volatile int calls;
static volatile u64 pc_seen;
static void on_signal(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    calls++;
    pc_seen = CONTEXT_PC(context);
}

static u64 now(int clock) {
    struct timespec time;
    CHECK(clock_gettime(clock, &time) == 0);
    return (u64)time.tv_sec * 1000000000 + (u64)time.tv_nsec;
}

static __attribute__((noinline)) void work(u64 count) {
    ticks(count);
    __asm__ volatile("");
}

int main(void) {
    struct clockinfo rates;
    size_t size = sizeof rates;
    const int name[] = {1, 12};
    CHECK(sysctl(name, 2, &rates, &size, NULL, 0) == 0 && size == 20);
    CHECK(rates.hz == 1000 && rates.tick == 1000 && rates.stathz == 127 && rates.profhz == 8128);
    memset(&rates, 0, sizeof rates);
    CHECK(__sysctlbyname("kern.clockrate", 14, &rates, &size, NULL, 0) == 0 && rates.profhz == 8128);

    // A second of CPU time is 8128 ticks.
    u64 cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    work(8128);
    CHECK(now(CLOCK_PROCESS_CPUTIME_ID) - cpu == 1000000000);
    u64 passed = now(CLOCK_MONOTONIC) - wall;
    CHECK(passed >= 1000000000 && passed < 1000100000);
    cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    CHECK(nanosleep(&(struct timespec){3600, 0}, NULL) == 0);
    CHECK(now(CLOCK_PROCESS_CPUTIME_ID) == cpu);

    // ITIMER_PROF interrupts the call that requests ticks; the call continues after the handler.
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    CHECK(sigaction(SIGPROF, &action, NULL) == 0);
    struct itimerval timer = {{0, 10000}, {0, 10000}}, old;
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    work(8128);
    CHECK(calls == 100 && pc_seen - (u64)work < 64);
    CHECK(now(CLOCK_PROCESS_CPUTIME_ID) - cpu == 1000000000);
    timer = (struct itimerval){{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_PROF, &timer, &old) == 0 && old.it_interval.tv_usec == 10000 && old.it_value.tv_usec > 0);
    work(8128);
    CHECK(calls == 100);
    timer.it_value.tv_usec = 1000000;
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == -1 && errno == EINVAL);

    // A late tick: the timer goes on if the interval is longer than the delay. Otherwise, the timer stops for good.
    struct sigaction own = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    CHECK(sigaction(SIGPROF, &own, NULL) == 0);
    timer = (struct itimerval){{0, 10000}, {0, 10000}};
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    calls = 0;
    late_ticks(122); // 15 milliseconds
    CHECK(calls == 1 && getitimer(ITIMER_PROF, &old) == 0 && old.it_value.tv_usec > 0 && old.it_value.tv_usec < 10000);
    work(8128);
    CHECK(calls == 101);
    late_ticks(244); // 30 milliseconds
    CHECK(calls == 102 && getitimer(ITIMER_PROF, &old) == 0);
    CHECK(old.it_interval.tv_usec == 10000 && old.it_value.tv_sec == 0 && old.it_value.tv_usec == 0);
    work(8128);
    CHECK(calls == 102);
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    work(8128);
    CHECK(calls == 202);
    CHECK(setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 0}}, NULL) == 0);

    // CLOCK_VIRTUAL has the user time, and CLOCK_PROF the user time and the system time.
    u64 user = now(1), all = now(2);
    system_ticks(8128);
    work(8128 * 2);
    CHECK(now(1) - user == 2000000000 && now(2) - all == 3000000000);

    // Timers of the system's clocks. The clocks of CPU time have no timers.
    int id;
    CHECK(ktimer_create(CLOCK_PROCESS_CPUTIME_ID, NULL, &id) == -1 && errno == EINVAL);
    struct { int notify, signal; void *value; int thread, spare[15]; } event = {SIGEV_SIGNAL, SIGUSR1, NULL, 0, {0}};
    CHECK(ktimer_create(CLOCK_MONOTONIC, &event, &id) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    struct itimerspec spec = {{0, 100000000}, {0, 100000000}};
    CHECK(ktimer_settime(id, 0, &spec, NULL) == 0);
    calls = 0;
    work(8128);
    CHECK(calls == 10);
    CHECK(nanosleep(&(struct timespec){5, 0}, NULL) == -1 && errno == EINTR && calls == 11);
    CHECK(ktimer_delete(id) == 0 && ktimer_delete(id) == -1);
    return 0;
}
