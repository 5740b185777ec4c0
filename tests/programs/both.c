/* Calls that are always counted, and calls that are counted on demand, in one program. With ALWAYS, this file is the
   object that is compiled with -pg, and otherwise the object with room at the entries of functions. The program prints
   the calls and arcs that its profile must have. With an argument, all calls are counted from the start. */
void always_leaf(void);
void always_branch(int times);
void demanded_leaf(void);

#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone, noipa))
#endif

#ifdef ALWAYS

static __thread volatile long always_sink;

FUNCTION void always_leaf(void) { always_sink++; }

FUNCTION void always_branch(int times)
{
    while (times-- > 0) {
        always_leaf();
        demanded_leaf();
        demanded_leaf();
    }
}

#else

#include <pthread.h>
#include <stdio.h>

#include "gmon.h"

/* A function without room at its entry. */
#define OTHER __attribute__((patchable_function_entry(0, 0)))

enum { THREADS = 4, TIMES = 1000 };

static __thread volatile long sink;

FUNCTION void demanded_leaf(void) { sink++; }

FUNCTION void demanded_branch(int times)
{
    while (times-- > 0) {
        demanded_leaf();
        always_leaf();
        always_leaf();
        always_leaf();
    }
    always_branch(2);
    sink++; /* so that the call is not a jump */
}

OTHER static void *work(void *unused)
{
    demanded_branch(TIMES);
    always_branch(TIMES);
    return unused;
}

/* Calls all functions in several threads. */
OTHER static void turn(void)
{
    pthread_t threads[THREADS];
    for (int number = 0; number < THREADS; number++)
        pthread_create(&threads[number], NULL, work, NULL);
    for (int number = 0; number < THREADS; number++)
        pthread_join(threads[number], NULL);
}

OTHER int main(int argc, char **argv)
{
    (void)argv;
    long all = 5 * THREADS, on_demand = argc > 1 ? all : 2 * THREADS;
    turn();
    if (argc == 1 && gmon_calls(1, NULL))
        return 1;
    turn();
    turn();
    if (argc == 1 && gmon_calls(0, NULL))
        return 1;
    turn();
    turn();
    printf("calls always_branch %ld\n", 2 * all);
    printf("calls always_leaf %ld\n", all * (3 * TIMES + TIMES + 2));
    printf("calls demanded_branch %ld\n", on_demand);
    printf("calls demanded_leaf %ld\n", on_demand * (TIMES + 2 * (TIMES + 2)));
    printf("arc always_branch always_leaf %ld\n", all * (TIMES + 2));
    printf("arc always_branch demanded_leaf %ld\n", on_demand * 2 * (TIMES + 2));
    printf("arc demanded_branch always_branch %ld\n", all);
    printf("arc demanded_branch always_leaf %ld\n", all * 3 * TIMES);
    printf("arc demanded_branch demanded_leaf %ld\n", on_demand * TIMES);
    printf("arc work always_branch %ld\n", all);
    printf("arc work demanded_branch %ld\n", on_demand);
    return 0;
}

#endif
