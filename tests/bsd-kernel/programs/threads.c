// Threads: thread-local storage, ticks, signals.
#include "bsd.h"

#define THREADS 4
static u16 bins[64];
static __thread long own = 5;
static volatile long got[THREADS];
static long ids[THREADS];
static volatile int ready, go;

static __attribute__((noinline)) void work(u64 count) {
    ticks(count);
    __asm__ volatile("");
}

static void *run(void *argument) {
    long number = (long)argument;
    own += number;
    thr_self(&ids[number]);
    for (int round = 0; round < 100; round++) work(number + 1);
    CHECK(write(-1, "", 1) == -1 && errno == EBADF);
    return (void *)own;
}

static void on_signal(int signal) {
    (void)signal;
    got[own]++;
}

static void *wait_for_signal(void *argument) {
    own = (long)argument;
    thr_self(&ids[own]);
    __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
    // The loop makes no system call, so the signal interrupts the loop.
    while (!__atomic_load_n(&go, __ATOMIC_SEQ_CST) && !got[own]) __asm__ volatile("pause");
    return NULL;
}

static void *sleep_beside(void *argument) {
    (void)argument;
    for (int round = 0; round < 5; round++) {
        CHECK(nanosleep(&(struct timespec){0, 500000000}, NULL) == 0);
        // The thread that requests ticks waits for this thread. Half a second is 4064 ticks.
        got[round % THREADS] = bins[0];
        u64 sum = 0;
        for (int at = 0; at < 64; at++) sum += bins[at];
        CHECK(sum == 4064ul * (round + 1));
    }
    return NULL;
}

static void *spin(void *argument) {
    while (!__atomic_load_n(&go, __ATOMIC_SEQ_CST)) __asm__ volatile("pause");
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    CHECK(profil((char *)bins, sizeof bins, (u64)work, 65536) == 0);
    for (long at = 0; at < THREADS; at++) CHECK(pthread_create(&threads[at], NULL, run, (void *)at) == 0);
    for (long at = 0; at < THREADS; at++) {
        void *result;
        CHECK(pthread_join(threads[at], &result) == 0 && (long)result == 5 + at);
    }
    u64 sum = 0;
    for (int at = 0; at < 64; at++) sum += bins[at];
    CHECK(sum == 100 * (1 + 2 + 3 + 4));
    long self;
    CHECK(thr_self(&self) == 0 && self == 100001 && own == 5 && ids[0] > 100001 && ids[3] > ids[2]);

    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (long at = 0; at < THREADS; at++) CHECK(pthread_create(&threads[at], NULL, wait_for_signal, (void *)at) == 0);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS) __asm__ volatile("pause");
    CHECK(thr_kill(ids[2], SIGUSR1) == 0 && pthread_join(threads[2], NULL) == 0);
    CHECK(got[2] == 1 && got[0] == 0 && got[1] == 0 && got[3] == 0);
    CHECK(thr_kill(ids[2], SIGUSR1) == -1);
    go = 1;
    for (long at = 0; at < THREADS; at++)
        if (at != 2) CHECK(pthread_join(threads[at], NULL) == 0);

    // A thread that a tick wakes finishes its work and sleeps again before the next tick.
    memset(bins, 0, sizeof bins);
    CHECK(pthread_create(&threads[0], NULL, sleep_beside, NULL) == 0);
    // When the time has changed, the thread is asleep.
    CHECK(nanosleep(&(struct timespec){0, 1}, NULL) == 0);
    work(8128 * 3);
    CHECK(pthread_join(threads[0], NULL) == 0);

    // Ticks do not wait for a thread that waits for an event after the ticks.
    go = 0;
    CHECK(pthread_create(&threads[0], NULL, spin, NULL) == 0);
    work(10);
    go = 1;
    CHECK(pthread_join(threads[0], NULL) == 0);

    // The last thread of a process stays.
    long state = 0;
    thr_exit(&state);
    CHECK(state == 1);
    return 0;
}
