/*
 * Meets more and more arcs, up to 400,000, and has its profile written after each 40,000 of them: in the end there are far
 * more than the profiling buffer has room for.
 *
 *     grows ticks      meanwhile threads send themselves the sampling signal
 *     grows switch     during each write threads call moncontrol(0) and moncontrol(1), over and over
 *     grows memory     prints by how many KiB the peak of the mapped memory grew with a write of more arcs than fit the buffer
 *
 * 24 MiB of the program's text are empty, so that the samples take 12 MiB.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gmon.h>

#define QUIET __attribute__((no_instrument_function))
#define OWN __attribute__((noinline, noclone))
#define STAY __asm__ volatile("" ::: "memory")

enum { SAMPLING = 60, THREADS = 3, CALLEES = 1000, CALLERS = 400, STEP = 40 };

/* tgkill(process, thread, SAMPLING), with the system call here and not in the C library: the signal comes in right behind
   the call. */
#ifdef __aarch64__
#define SEND(process, thread) \
    register long number __asm__("x8") = SYS_tgkill; \
    register long first __asm__("x0") = process; \
    register long second __asm__("x1") = thread; \
    register long third __asm__("x2") = SAMPLING; \
    __asm__ volatile("svc #0" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
#else
#define SEND(process, thread) \
    long result = SYS_tgkill; \
    __asm__ volatile("syscall" : "+a"(result) : "D"(process), "S"(thread), "d"((long)SAMPLING) : "rcx", "r11", "memory");
#endif

/* The first function of the text, before the empty part. */
OWN __attribute__((aligned(64))) void tick(long process, long thread) { SEND(process, thread) }

__asm__(".pushsection .text\n.balign 16\n.skip 24 << 20\n.popsection");

static volatile int ended, switching;
static pthread_barrier_t begun, done;

QUIET static void *ticks(void *sent) {
    long process = getpid(), thread = gettid(), number = 0;
    while (!ended) {
        tick(process, thread);
        number++;
    }
    *(long *)sent = number;
    return NULL;
}

QUIET static void *switches(void *unused) {
    for (;;) {
        pthread_barrier_wait(&begun);
        if (ended)
            return unused;
        while (switching) {
            moncontrol(0);
            moncontrol(1);
        }
        pthread_barrier_wait(&done);
    }
}

typedef long callee(long);
#define CALLEE(n) OWN long callee##n(long x) { STAY; return x + 1; }
#define CALLER(n) OWN long caller##n(callee *to, long x) { x = to(x); STAY; return x; }
#define NAME_CALLEE(n) callee##n,
#define NAME_CALLER(n) caller##n,
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n) TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) \
    TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define FOUR_HUNDRED(X) HUNDRED(X, 0) HUNDRED(X, 1) HUNDRED(X, 2) HUNDRED(X, 3)
#define THOUSAND(X) FOUR_HUNDRED(X) HUNDRED(X, 4) HUNDRED(X, 5) HUNDRED(X, 6) HUNDRED(X, 7) HUNDRED(X, 8) HUNDRED(X, 9)
THOUSAND(CALLEE)
FOUR_HUNDRED(CALLER)

/* Every function is called by some of the callers, twice by each. */
QUIET static void call(int from, int until) {
    static callee *const callees[] = {THOUSAND(NAME_CALLEE)};
    static long (*const callers[])(callee *, long) = {FOUR_HUNDRED(NAME_CALLER)};
    for (; from < until; from++)
        for (int to = 0; to < CALLEES; to++)
            callers[from](callees[to], callers[from](callees[to], 0));
}

QUIET static long peak(void) { /* KiB that are mapped, at most */
    char line[256];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmPeak: %ld", &peak);
    if (status)
        fclose(status);
    return peak;
}

QUIET static void memory(void) {
    call(0, STEP);
    gmon_dump();
    call(STEP, 2 * STEP);
    long before = peak();
    gmon_dump();
    printf("grown %ld\n", peak() - before);
}

QUIET int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int is_switched = strcmp(what, "switch") == 0;
    pthread_t threads[THREADS];
    long sent[THREADS] = {0}, all = 0;
    if (strcmp(what, "memory") == 0) {
        memory();
        return 0;
    }
    pthread_barrier_init(&begun, NULL, THREADS + 1);
    pthread_barrier_init(&done, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, is_switched ? switches : ticks, &sent[i]) != 0)
            return 99;
    for (int from = 0; from < CALLERS; from += STEP) {
        call(from, from + STEP);
        if (is_switched) {
            switching = 1;
            pthread_barrier_wait(&begun);
        }
        gmon_dump();
        if (is_switched) {
            switching = 0;
            pthread_barrier_wait(&done);
        }
    }
    ended = 1;
    if (is_switched)
        pthread_barrier_wait(&begun);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += sent[i];
    }
    printf("calls caller000 2000\ncalls callee999 800\narc caller123 callee456 2\narc caller399 callee000 2\n");
    printf("calls tick %ld\n", all);
    return 0;
}
