/*
 * Counts its own calls in several threads and prints the counts; its profile must have exactly the same counts.
 *
 *     calls [THREADS [ROUNDS]]
 *
 * "calls NAME N" means that NAME was called N times, "arc CALLER CALLEE N" that CALLER made N of CALLEE's calls.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline, noclone))

/* Functions that count themselves, and pairs of callers and called functions. */
#define FUNCTIONS(X) X(leaf) X(middle) X(fibonacci) X(even) X(odd) X(total) X(blend) X(make) X(left) X(right) X(walk) X(pick)
#define ARCS(X) \
    X(walk, leaf) X(middle, leaf) X(walk, middle) X(fibonacci, fibonacci) X(even, odd) X(odd, even) X(walk, total) \
    X(walk, blend) X(walk, make) X(pick, left) X(pick, right) X(walk, pick)

#define DECLARE_FUNCTION(name) static unsigned long calls_##name;
#define DECLARE_ARC(from, to) static unsigned long arc_##from##_##to;
FUNCTIONS(DECLARE_FUNCTION)
ARCS(DECLARE_ARC)

#define ADD(counter) __atomic_fetch_add(&(counter), 1, __ATOMIC_RELAXED)
#define ENTER(name) ADD(calls_##name)
#define CALL(from, to) ADD(arc_##from##_##to)
/* Keeps a call from being the last thing in its function: a tail call would be a call by the caller's caller. */
#define STAY __asm__ volatile("" ::: "memory")

typedef struct { double x; long n[4]; } large;

OWN static long leaf(long n) { ENTER(leaf); STAY; return n + 1; }
OWN static long middle(long n) { ENTER(middle); CALL(middle, leaf); n = leaf(n); STAY; return n; }

OWN static long fibonacci(int n) {
    ENTER(fibonacci);
    if (n < 2)
        return n;
    CALL(fibonacci, fibonacci);
    CALL(fibonacci, fibonacci);
    long sum = fibonacci(n - 1) + fibonacci(n - 2);
    STAY;
    return sum;
}

static int odd(int n);
OWN static int even(int n) {
    ENTER(even);
    if (n == 0)
        return 1;
    CALL(even, odd);
    int result = odd(n - 1);
    STAY;
    return result;
}
OWN static int odd(int n) {
    ENTER(odd);
    if (n == 0)
        return 0;
    CALL(odd, even);
    int result = even(n - 1);
    STAY;
    return result;
}

/* Arguments in every register that passes them, and the number of vector ones in al. */
OWN static double total(int integers, ...) {
    va_list list;
    double sum = 0;
    ENTER(total);
    va_start(list, integers);
    for (int i = 0; i < integers; i++)
        sum += va_arg(list, int);
    for (int i = 0; i < 8; i++)
        sum += va_arg(list, double);
    va_end(list);
    return sum;
}
OWN static double blend(double a, float b, double c, double d, double e, double f, double g, double h, long i, long j,
                        long k, long l, long m, long n, long o) {
    ENTER(blend);
    STAY;
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l + 13 * m + 14 * n
           + 15 * o;
}
/* Returned through memory, and with it the vector registers. */
OWN static large make(long n) {
    large made = {(double)n, {n, n + 1, n + 2, n + 3}};
    ENTER(make);
    STAY;
    return made;
}

OWN static long left(long n) { ENTER(left); STAY; return n - 1; }
OWN static long right(long n) { ENTER(right); STAY; return n + 1; }
OWN static long pick(long n) {
    static long (*volatile const ways[])(long) = {left, right};
    ENTER(pick);
    if (n & 1)
        CALL(pick, right);
    else
        CALL(pick, left);
    n = ways[n & 1](n);
    STAY;
    return n;
}

static int rounds = 1000;

OWN static void *walk(void *unused) {
    (void)unused;
    ENTER(walk);
    for (int i = 0; i < rounds; i++) {
        CALL(walk, leaf);
        CALL(walk, middle);
        CALL(walk, total);
        CALL(walk, blend);
        CALL(walk, make);
        CALL(walk, pick);
        if (leaf(i) != i + 1 || middle(i) != i + 1 || pick(i) != (i & 1 ? i + 1 : i - 1))
            abort();
        if (total(3, i, 2, 3, .5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5) != i + 5 + 32)
            abort();
        if (blend(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) != 1240)
            abort();
        if (make(i).x != i || make(i).n[3] != i + 3)
            abort();
        CALL(walk, make); /* called once more: twice in the line above */
    }
    if (fibonacci(15) != 610 || !even(100) || odd(100))
        abort();
    return NULL;
}

#define PRINT_FUNCTION(name) printf("calls " #name " %lu\n", calls_##name);
#define PRINT_ARC(from, to) printf("arc " #from " " #to " %lu\n", arc_##from##_##to);

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t *ids = calloc(threads, sizeof *ids);
    if (argc > 2)
        rounds = atoi(argv[2]);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&ids[i], NULL, walk, NULL) != 0)
            return 1;
    walk(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    FUNCTIONS(PRINT_FUNCTION)
    ARCS(PRINT_ARC)
    free(ids);
    return 0;
}
