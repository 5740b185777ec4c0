// A machine with four processors: a tick interrupts four threads at the same address.
#include "bsd.h"

static u16 bins[64];
static volatile int expired;
static void on_signal(int signal) {
    (void)signal;
    expired++;
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
    int processors = 0;
    size_t size = sizeof processors;
    const int name[] = {6, 3};
    CHECK(sysctl(name, 2, &processors, &size, NULL, 0) == 0 && processors == 4);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 100000}, {0, 100000}};
    CHECK(sigaction(SIGPROF, &action, NULL) == 0 && setitimer(ITIMER_PROF, &timer, NULL) == 0);
    CHECK(profil((char *)bins, sizeof bins, (u64)work, 65536) == 0);
    u64 cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    work(8128);
    CHECK(now(CLOCK_PROCESS_CPUTIME_ID) - cpu == 4000000000);
    u64 passed = now(CLOCK_MONOTONIC) - wall, sum = 0;
    CHECK(passed >= 1000000000 && passed < 1000100000 && expired == 40);
    for (int at = 0; at < 64; at++) sum += bins[at];
    CHECK(sum == 4 * 8128);
    return 0;
}
