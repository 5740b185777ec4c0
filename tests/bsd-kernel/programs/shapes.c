// A profiled program with calls of many shapes. The argument selects the part for a test. The program prints the
// expected counts of the profile as `calls NAME N`, `arc CALLER CALLEE N` and `ticks NAME N`.
#include "bsd.h"

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

PART void leaf(void) { KEEP; }
PART void light(u64 count) {
    ticks(count);
    KEEP;
}

// Recursion, and a cycle of two functions.
PART int descends(int left) {
    int below = left ? descends(left - 1) : 0;
    KEEP;
    return below + 1;
}
PART int odd(int number);
PART int even(int number) {
    int rest = number ? odd(number - 1) : 1;
    KEEP;
    return rest;
}
PART int odd(int number) {
    int rest = number ? even(number - 1) : 0;
    KEEP;
    return rest;
}
PART void recursion(void) {
    CHECK(descends(20000) == 20001 && even(100) == 1);
    say("arc recursion descends 1\narc descends descends 20000\narc recursion even 1\narc even odd 50\narc odd even 50\n");
}

// Many functions that one instruction calls.
#define FUNCTION(name) PART void name(void) { KEEP; }
FUNCTION(f0) FUNCTION(f1) FUNCTION(f2) FUNCTION(f3) FUNCTION(f4) FUNCTION(f5) FUNCTION(f6) FUNCTION(f7)
PART void pointers(void) {
    static void (*const functions[])(void) = {f0, f1, f2, f3, f4, f5, f6, f7};
    for (int at = 0; at < 80000; at++) functions[(at * 5) % 8]();
    say("arc pointers f0 10000\narc pointers f3 10000\ncalls f7 10000\n");
}

// Arguments in all registers survive the call of mcount.
PART double takes(long a, long b, long c, long d, long e, long f, double g, double h, double i, double j, double k, double l, double m, double n) {
    return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) + g + 2 * h + 3 * i + 4 * j + 5 * k + 6 * l + 7 * m + 8 * n;
}
PART void arguments(void) {
    for (long at = 0; at < 1000; at++)
        CHECK(takes(at, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7, (double)at) == (double)at * 9 + 2 + 6 + 12 + 20 + 30 + 140);
    say("arc arguments takes 1000\n");
}

// More threads than processors, in turns.
#define WAVE 8
PART void *worker(void *argument) {
    for (long at = 0; at < (long)argument; at++) leaf();
    light(2);
    return NULL;
}
PART void waves(void) {
    pthread_t threads[WAVE];
    for (int wave = 0; wave < 10; wave++) {
        for (long at = 0; at < WAVE; at++) CHECK(pthread_create(&threads[at], NULL, worker, (void *)(100 + at)) == 0);
        for (long at = 0; at < WAVE; at++) CHECK(pthread_join(threads[at], NULL) == 0);
    }
    say("arc worker leaf 8280\narc worker light 80\nticks light 160\n");
}

// A process that ends while threads wait.
static volatile int arrived;
PART void *waiter(void *argument) {
    for (int at = 0; at < 50; at++) leaf();
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    for (;;) nanosleep(&(struct timespec){1000, 0}, NULL);
    return argument;
}
PART void left(void) {
    pthread_t thread;
    for (int at = 0; at < 4; at++) CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
    while (arrived < 4) nanosleep(&(struct timespec){0, 1000000}, NULL);
    say("arc waiter leaf 200\n");
}

// Handlers that signals interrupt in turn.
static volatile int depth;
PART void in_handler(void) { KEEP; }
PART void nests(int signal) {
    in_handler();
    if (++depth % 10) raise(signal);
    in_handler();
}
PART void nested(void) {
    struct sigaction action = {.sa_handler = nests, .sa_flags = SA_NODEFER};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int at = 0; at < 20; at++) raise(SIGUSR1);
    CHECK(depth == 200);
    say("arc nests in_handler 400\n");
}

// Signals interrupt a thread at any instruction, mcount's included.
#ifdef __FreeBSD__
static long own_id(void) {
    long id;
    thr_self(&id);
    return id;
}
#define SEND(thread) thr_kill(thread, SIGUSR1)
#else
#define own_id() getthrid()
#define SEND(thread) thrkill((int)(thread), SIGUSR1, NULL)
#endif
static volatile long target;
static volatile int handled, is_over;
static volatile u64 calls;
PART void interrupts(int signal) {
    (void)signal;
    in_handler();
    handled++;
}
PART void *interrupted(void *argument) {
    target = own_id();
    for (; !is_over; calls++) leaf();
    return argument;
}
PART void storm(void) {
    struct sigaction action = {.sa_handler = interrupts};
    pthread_t thread;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && pthread_create(&thread, NULL, interrupted, NULL) == 0);
    while (!target) KEEP;
    for (int at = 0; at < 100; at++) {
        CHECK(SEND(target) == 0);
        while (handled == at) KEEP;
    }
    is_over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    say_number("arc interrupted leaf", (long)calls);
    say("arc interrupts in_handler 100\n");
}

#ifndef __aarch64__
// A handler that never returns. clang has no such jumps for arm64.
static void *jump[5];
PART void jumps(int signal) {
    (void)signal;
    in_handler();
    __builtin_longjmp(jump, 1);
}
PART void jumped(void) {
    static volatile int at;
    struct sigaction action = {.sa_handler = jumps, .sa_flags = SA_NODEFER};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (at = 0; at < 30; at++)
        if (!__builtin_setjmp(jump)) raise(SIGUSR1);
        else leaf();
    say("arc jumps in_handler 30\narc jumped leaf 30\n");
}
#endif

int main(int argc, char **argv) {
    static const struct { const char *name; void (*run)(void); } parts[] = {
        {"recursion", recursion}, {"pointers", pointers}, {"arguments", arguments}, {"waves", waves}, {"left", left}, {"nested", nested},
        {"storm", storm},
#ifndef __aarch64__
        {"jumped", jumped},
#endif
    };
    CHECK(argc == 2);
    for (u64 at = 0; at < sizeof parts / sizeof parts[0]; at++)
        if (!strcmp(argv[1], parts[at].name)) {
            parts[at].run();
            return 0;
        }
    return 1;
}
