/* A shared object with profiled functions, which samples itself and calls back. */
#include <unistd.h>
#include "sample.h"

__attribute__((noinline)) int stride(int number) { return 3 * number + 1; }

__attribute__((noinline)) void sampled_here(int times, long process_id, long thread_id)
{
    while (times-- > 0) {
        SAMPLE(process_id, thread_id)
    }
}

/* Calls `stride` and `back` this many times each, and samples itself `samples` times. */
int serve(int times, int samples, int (*back)(int))
{
    int sum = 0;
    for (int turn = 0; turn < times; turn++) {
        sum += stride(turn);
        if (back)
            sum += back(turn);
    }
    sampled_here(samples, getpid(), syscall(SYS_gettid));
    return sum;
}
