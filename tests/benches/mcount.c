/*
 * The cost of a call: mcount CASE [THREADS] prints the nanoseconds of thread CPU time per call, loop included, of the
 * fastest thread.
 *
 *     m1   one call site, one callee
 *     m2   10,000 call sites, each with its own callee
 *     m3   one indirect call site, 64 callees in turn
 *     m4   the same, in random order
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOT_PROFILED __attribute__((no_instrument_function))
#define ALONE __attribute__((noinline, noclone))

typedef long function(long);

#define TEN(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4) X(p##5) X(p##6) X(p##7) X(p##8) X(p##9)
#define HUNDRED(X, p) TEN(X, p##0) TEN(X, p##1) TEN(X, p##2) TEN(X, p##3) TEN(X, p##4) \
    TEN(X, p##5) TEN(X, p##6) TEN(X, p##7) TEN(X, p##8) TEN(X, p##9)
#define THOUSAND(X, p) HUNDRED(X, p##0) HUNDRED(X, p##1) HUNDRED(X, p##2) HUNDRED(X, p##3) HUNDRED(X, p##4) \
    HUNDRED(X, p##5) HUNDRED(X, p##6) HUNDRED(X, p##7) HUNDRED(X, p##8) HUNDRED(X, p##9)
#define ALL(X) THOUSAND(X, f0) THOUSAND(X, f1) THOUSAND(X, f2) THOUSAND(X, f3) THOUSAND(X, f4) \
    THOUSAND(X, f5) THOUSAND(X, f6) THOUSAND(X, f7) THOUSAND(X, f8) THOUSAND(X, f9)

#define DEFINE(name) ALONE static long name(long n) { __asm__ volatile("" : "+r"(n)); return n + 1; }
#define CALL(name) n = name(n);
#define ADDRESS(name) name,
ALL(DEFINE)
static function *const callees[] = {HUNDRED(ADDRESS, f00)};

NOT_PROFILED static long m1(long rounds) {
    long n = 0;
    for (long i = 0; i < rounds; i++)
        n = f0000(n);
    return rounds;
}

NOT_PROFILED static long m2(long rounds) {
    long n = 0;
    for (long i = 0; i < rounds; i += 10000) {
        ALL(CALL)
    }
    return n;
}

NOT_PROFILED static long indirect(long rounds, const unsigned char *order) {
    long n = 0;
    for (long i = 0; i < rounds; i++)
        n = callees[order[i & 65535]](n);
    return n;
}

static unsigned char in_turn[65536], at_random[65536];

NOT_PROFILED static long m3(long rounds) { return indirect(rounds, in_turn); }
NOT_PROFILED static long m4(long rounds) { return indirect(rounds, at_random); }

static function *chosen;
static double best = 1e9;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

NOT_PROFILED static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

NOT_PROFILED static void *work(void *unused) {
    enum { ROUNDS = 2000000 };
    (void)unused;
    chosen(200000);
    for (int i = 0; i < 5; i++) {
        double start = seconds(), each;
        long calls = chosen(ROUNDS);
        each = (seconds() - start) * 1e9 / calls;
        pthread_mutex_lock(&lock);
        if (each < best)
            best = each;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

NOT_PROFILED int main(int argc, char **argv) {
    static const struct { const char *name; function *function; } cases[] = {{"m1", m1}, {"m2", m2}, {"m3", m3}, {"m4", m4}};
    pthread_t threads[64];
    int count = argc > 2 ? atoi(argv[2]) : 1;
    unsigned seed = 1;
    for (int i = 0; i < 65536; i++) {
        seed = seed * 1103515245u + 12345u;
        in_turn[i] = i % 64;
        at_random[i] = (seed >> 16) % 64;
    }
    for (size_t i = 0; i < 4; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
            chosen = cases[i].function;
    if (!chosen || count < 1 || count > 64)
        return 2;
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    work(NULL);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.3f\n", best);
    return 0;
}
