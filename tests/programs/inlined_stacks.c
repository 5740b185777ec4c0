/*
 * Samples itself in functions that the compiler inlines: `caller` has `wrap`, which calls `leaf`, and `outer`. `leaf`
 * and `outer` have `burn`.
 */
#define _GNU_SOURCE
#include "sample.h"

#define INLINED static inline __attribute__((always_inline))

INLINED void burn(int samples) { SAMPLES(samples); STAYS; }
INLINED void outer(int samples) { burn(samples); STAYS; }
FUNCTION void leaf(int samples) { burn(samples); STAYS; }
INLINED void wrap(int samples) { leaf(samples); STAYS; }

FUNCTION void caller(void) {
    wrap(30);
    outer(20);
    STAYS;
}

int main(void) {
    for (int i = 0; i < 10; i++)
        caller();
    return 0;
}
