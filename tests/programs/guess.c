/*
 * `protect` calls a function through a pointer: once `once`, which works for long, and a hundred times `often`, which
 * does not work. Both end in a tail call of `work`, so the stack of a sample in `work` has neither.
 */
#define _GNU_SOURCE
#include "sample.h"

FUNCTION int work(int samples) {
    SAMPLES(samples);
    STAYS;
    return samples;
}

FUNCTION int once(int samples) { return work(samples); }

FUNCTION int often(int samples) { return work(samples); }

FUNCTION int protect(int (*function)(int), int samples) {
    int result = function(samples);
    STAYS;
    return result + 1;
}

FUNCTION int run(void) {
    int result = protect(once, 200);
    STAYS;
    return result;
}

FUNCTION int collect(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += protect(often, 0);
    return sum;
}

int main(void) { return collect() + run() == 0; }
