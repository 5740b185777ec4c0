/*
 * A hundred functions at the starts of pages, called from one place: their arcs differ only in high bits.
 *
 *     pages              without limits
 *     pages limited      no more memory from the start of main on
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define OWN __attribute__((noinline, noclone))
#define STAY __asm__ volatile("" ::: "memory")
#define TEN(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4) X(p##5) X(p##6) X(p##7) X(p##8) X(p##9)
#define HUNDRED(X) TEN(X, 0) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9)
#define PAGE(n) OWN __attribute__((aligned(4096))) static long page##n(long x) { STAY; return x + 1; }
#define NAME(n) page##n,

HUNDRED(PAGE)

OWN static long caller(long (*function)(long), long x) {
    x = function(x);
    STAY;
    return x;
}

int main(int argc, char **argv) {
    static long (*const all[])(long) = {HUNDRED(NAME)};
    struct rlimit none = {0, 0};
    long total = 0;
    (void)argv;
    if (argc > 1 && setrlimit(RLIMIT_AS, &none) != 0)
        return 2;
    for (int round = 0; round < 1000; round++)
        for (int i = 0; i < 100; i++)
            total = caller(all[i], total);
    printf("calls caller %ld\n", total);
    for (int i = 0; i < 100; i++)
        printf("calls page%02d 1000\narc caller page%02d 1000\n", i, i);
    return 0;
}
