/* Two functions: `changed` works R/100 times as long for each call as `steady`, or is called R/100 times as often if
   CALLS is defined. The comparison of builds with R=100, 105, and 125 must find `changed` and nothing else. */
#include <stdlib.h>

#ifndef R
#define R 100
#endif

volatile unsigned long sink;

#ifdef CALLS
#define LENGTH 100
#define TIMES R
#else
#define LENGTH R
#define TIMES 100
#endif

__attribute__((noinline)) void changed(void)
{
    unsigned long value = sink;
    for (unsigned long at = 0; at < LENGTH * 1000ul; at++)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    sink = value;
}

__attribute__((noinline)) void steady(void)
{
    unsigned long value = sink;
    for (unsigned long at = 0; at < 100 * 1000ul; at++)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    sink = value;
}

__attribute__((noinline)) void caller(void)
{
    for (int at = 0; at < TIMES; at++)
        changed();
    for (int at = 0; at < 100; at++)
        steady();
}

/* The argument is the number of rounds. A round takes a few hundredths of a second. */
int main(int count, char **words)
{
    int rounds = count > 1 ? atoi(words[1]) : 20;
    for (int at = 0; at < rounds; at++)
        caller();
    return 0;
}
