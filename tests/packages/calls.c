/* Calls leaf until 0.3 seconds of CPU time are used, which are 30 samples, and prints the number of calls. */
#include <stdio.h>
#include <time.h>
#ifdef WITH_HEADER
#include <gmon.h>
#endif

static volatile unsigned sum;

__attribute__((noinline)) void leaf(unsigned turns) {
    while (turns--)
        sum += turns;
}

int main(void) {
    unsigned long calls = 0;
#ifdef WITH_HEADER
    moncontrol(1);
#endif
    while (clock() < CLOCKS_PER_SEC * 3 / 10)
        for (int call = 0; call < 100; call++, calls++)
            leaf(1000);
    printf("%lu\n", calls);
    return 0;
}
