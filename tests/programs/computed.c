/*
 * Calls `dear` with one instruction. `dear` ends in a tail call of `work`, or of `relay`, which ends in a tail call of
 * `work` through a pointer (with -DAPART: in none). No stack of `work` tells whether `relay` was called before.
 *
 * Then calls two functions through a pointer with one instruction: `work`, and `proxy`, which ends in a tail call of
 * `work` through a pointer.
 */
#define _GNU_SOURCE
#include "sample.h"

static volatile int calls;

FUNCTION void work(int samples) {
    SAMPLES(samples);
    STAYS;
}

static void (*volatile target)(int) = work;

FUNCTION void relay(int samples) {
    calls++;
#ifndef APART
    target(samples);
#endif
}

FUNCTION void dear(int samples) {
    if (calls & 1)
        work(samples);
    else
        relay(samples);
}

FUNCTION void proxy(int samples) {
    calls++;
    target(samples);
}

FUNCTION void choose(void (*volatile *pointers)(int)) {
    for (int i = 0; i < 10; i++)
        pointers[i & 1](20);
    calls++;
}

int main(void) {
    static void (*volatile pointers[])(int) = {work, proxy};
    for (int i = 0; i < 10; i++) {
        calls = i;
        dear(20);
    }
    choose(pointers);
    return 0;
}
