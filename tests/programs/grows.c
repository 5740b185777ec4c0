/*
 * Makes more and more arcs, up to 400,000, and writes its profile after each 80,000 of them. In the end there are far
 * more arcs than the profiling buffer can hold.
 *
 *     grows ticks      meanwhile, threads send themselves the sampling signal
 *     grows switch     during each write, threads call moncontrol(0) and moncontrol(1) again and again
 *     grows file       the first thread forbids itself to open files while threads send themselves that signal
 *     grows memory     prints by how many KiB the peak of the mapped memory grew when it wrote more arcs than fit the
 *                      buffer
 *
 * 24 MiB of the program's text are empty, so that the samples take 12 MiB.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <gmon.h>
#include "sample.h"

#define QUIET __attribute__((no_instrument_function))
#define OWN __attribute__((noinline, noclone))
#define STAY __asm__ volatile("" ::: "memory")

enum { THREADS = 3, TICKS = 20000, CALLEES = 1000, CALLERS = 400, STEP = 40 };

/* The first function of the text, before the empty part. */
OWN __attribute__((aligned(64))) void tick(long process, long thread) { SAMPLE(process, thread) }

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

static volatile int ticking;

/* Together they stay below the 65,535 that a bin of a file can hold. */
QUIET static void *some_ticks(void *sent) {
    long process = getpid(), thread = gettid();
    for (int i = 0; i < TICKS; i++) {
        tick(process, thread);
        if (i == TICKS / 10)
            ticking = 1;
    }
    *(long *)sent = TICKS;
    return NULL;
}

QUIET static void forbid_files(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    while (!ticking)
        ;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        exit(77);
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

/* Each function is called by some of the callers, twice by each. */
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
    gmon_dump(); /* maps the table of loaded objects */
    call(STEP, 2 * STEP);
    long before = peak();
    gmon_dump();
    printf("grown %ld\n", peak() - before);
}

QUIET int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int is_switched = strcmp(what, "switch") == 0, is_file = strcmp(what, "file") == 0;
    pthread_t threads[THREADS];
    long sent[THREADS] = {0}, all = 0;
    if (strcmp(what, "memory") == 0) {
        memory();
        return 0;
    }
    pthread_barrier_init(&begun, NULL, THREADS + 1);
    pthread_barrier_init(&done, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, is_switched ? switches : is_file ? some_ticks : ticks, &sent[i]) != 0)
            return 99;
    if (is_file)
        forbid_files();
    for (int from = 0; from < CALLERS && !is_file; from += 2 * STEP) {
        call(from, from + 2 * STEP);
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
    if (!is_file)
        printf("calls caller000 2000\ncalls callee999 800\narc caller123 callee456 2\narc caller399 callee000 2\n");
    printf("calls tick %ld\n", all);
    return 0;
}
