/*
 * One function is cheap for one caller and dear for another. A unit of work stands for a tick of the clock. Prints
 * "self NAME N" for the units in a function itself, and "all NAME N" for the units in a function and in all that it
 * called.
 */
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline, noclone))

static long worked, polished, ended;

/* The units of all functions so far. */
static inline __attribute__((always_inline)) long units(void) { return worked + polished + ended; }

static long below_cheap, below_dear;

OWN void work(long n) { worked += n; }

OWN void polish(long n) { polished += n; }

OWN void cheap(void) {
    long before = units();
    for (int i = 0; i < 90; i++)
        work(1);
    below_cheap += units() - before;
}

OWN void dear(void) {
    long before = units();
    for (int i = 0; i < 10; i++)
        work(100);
    polish(30);
    below_dear += units() - before;
}

/* The C library calls this function, so its caller is outside of the program. */
OWN void at_end(void) {
    long below_main = units();
    ended += 7;
    printf("self work %ld\nself polish %ld\nself at_end %ld\n", worked, polished, ended);
    printf("all main %ld\nall cheap %ld\nall dear %ld\nall work %ld\nall polish %ld\nall at_end %ld\n", below_main,
           below_cheap, below_dear, worked, polished, ended);
}

int main(void) {
    atexit(at_end);
    for (int i = 0; i < 2; i++)
        cheap();
    dear();
    return 0;
}
