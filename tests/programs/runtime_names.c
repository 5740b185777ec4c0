/* Functions with the names of the profiling runtime, which no report covers: a stage for synthetic profiles. */
#include <stdio.h>

static volatile unsigned long sink;

#define ONE(name) \
    __attribute__((no_instrument_function)) void name(unsigned long n) { sink += n; sink ^= n << 3; }

ONE(_gprof_mcount)
ONE(user)
ONE(__mcount_internal)
ONE(other)
ONE(__mcleanup)
ONE(third)

int main(void)
{
    user(1);
    other(2);
    third(3);
    printf("done\n");
    return 0;
}
