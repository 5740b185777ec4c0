/* Spends SECONDS in calls of a short function, and prints their number: own_code SECONDS. Compiled with OTHER, it calls
   a function in another section three times. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void near(void)
{
    for (int turn = 0; turn < 16; turn++)
        __asm__ volatile("");
}

#ifdef OTHER
__attribute__((noinline, section("other_code"))) void far_away(void) { __asm__ volatile(""); }
#endif

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    long calls = 0;
    while (clock() < seconds * CLOCKS_PER_SEC) {
        for (int call = 0; call < 100000; call++)
            near();
        calls += 100000;
    }
    printf("calls near %ld\n", calls);
#ifdef OTHER
    for (int call = 0; call < 3; call++)
        far_away();
    printf("calls far_away 3\n");
#endif
    return 0;
}
