/*
 * Calls two functions with one instruction: `work`, and `relay`, which ends in a tail call of `work`. No stack tells
 * which of the two was called.
 */
#define _GNU_SOURCE
#include "sample.h"

static volatile int calls;

FUNCTION void work(int samples) {
    SAMPLES(samples);
    STAYS;
}

FUNCTION void relay(int samples) {
    calls++;
    work(samples);
}

static void (*volatile pointers[])(int) = {work, relay};

int main(void) {
    for (int i = 0; i < 10; i++)
        pointers[i & 1](20);
    return 0;
}
