// Time. A tick advances the CPU time of the process. A sleep ends when the sum of the CPU time and of real time has
// passed. Ticks wait until the threads that they woke sleep again, as on a real machine, where such threads run long
// before the next tick.
#include "host.h"

#define SECOND 1000000000ul
#define TICKS_PER_SECOND 8128ul
// Less than the time in which the runtime must look at the counters.
#define TICKS_AT_ONCE 4064ul
#define MONOTONIC 1
#define PRIVATE_WAIT 128
#define PRIVATE_WAKE 129

static u64 ticks_so_far;
// Changes with each advance: the word on which sleeping threads wait.
static u32 advances;
// The number of sleeping threads; the number of threads that are new or whose sleep ended, until they sleep, wait, end
// or request ticks; and the number of times that a thread began to sleep.
static u32 sleeping, awake, sleeps;

static u64 cpu_time(void) { return __atomic_load_n(&ticks_so_far, __ATOMIC_SEQ_CST) * 125000 / TICKS_PER_SECOND * 8000; }

static u64 real_time(void) {
    u64 time[2] = {0, 0};
    LINUX(L_CLOCK_GETTIME, MONOTONIC, time, 0, 0);
    return time[0] * SECOND + time[1];
}

long read_clock(u64 which, u64 *time) {
    // CLOCK_PROCESS_CPUTIME_ID and CLOCK_MONOTONIC have other numbers on Linux.
    if (which != 15) return LINUX(L_CLOCK_GETTIME, which == 4 ? MONOTONIC : 0, time, 0, 0);
    u64 now = cpu_time();
    time[0] = now / SECOND, time[1] = now % SECOND;
    return 0;
}

// Ticks wait for one more new thread, or for one less.
void expect_thread(int count) { __atomic_fetch_add(&awake, (u32)count, __ATOMIC_SEQ_CST); }

// Ticks no longer wait for this thread.
void expect_nothing(void) {
    int *flag = own_flag();
    if (*flag) __atomic_fetch_sub(&awake, 1, __ATOMIC_SEQ_CST);
    *flag = 0;
}

long sleep_for(const u64 *time) {
    int *flag = own_flag();
    u64 begin = cpu_time() + real_time(), length = time[0] * SECOND + time[1];
    __atomic_fetch_add(&sleeping, 1, __ATOMIC_SEQ_CST);
    expect_nothing();
    for (;;) {
        u32 seen = __atomic_load_n(&advances, __ATOMIC_SEQ_CST);
        u64 passed = cpu_time() + real_time() - begin;
        if (passed >= length) break;
        __atomic_fetch_add(&sleeps, 1, __ATOMIC_SEQ_CST);
        u64 left[2] = {(length - passed) / SECOND, (length - passed) % SECOND};
        linux_call(L_FUTEX, (long)&advances, PRIVATE_WAIT, seen, (long)left, 0, 0);
    }
    *flag = 1;
    __atomic_fetch_add(&awake, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&sleeping, 1, __ATOMIC_SEQ_CST);
    return 0;
}

// Wakes the sleeping threads, and waits until they sleep again and no thread is awake. The wait ends after 20 seconds,
// if a thread never sleeps again.
static void advance(u64 count) {
    u32 woken = __atomic_load_n(&sleeping, __ATOMIC_SEQ_CST), before = __atomic_load_n(&sleeps, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&ticks_so_far, count, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&advances, 1, __ATOMIC_SEQ_CST);
    linux_call(L_FUTEX, (long)&advances, PRIVATE_WAKE, 1 << 30, 0, 0, 0);
    u64 end = real_time() + 20 * SECOND;
    while (__atomic_load_n(&sleeps, __ATOMIC_SEQ_CST) - before < woken || __atomic_load_n(&awake, __ATOMIC_SEQ_CST) > 0) {
        if (real_time() > end) break;
        LINUX(L_YIELD, 0, 0, 0, 0);
    }
}

void tick(u64 pc, u64 count) {
    expect_nothing();
    while (count > 0) {
        u64 now = count < TICKS_AT_ONCE ? count : TICKS_AT_ONCE;
        charge(pc, now);
        advance(now);
        count -= now;
    }
}

// The child of a fork has no sleeping threads, and no CPU time.
void forget_time(void) { ticks_so_far = sleeping = awake = 0; }
