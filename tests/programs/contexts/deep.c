/*
 * Works below a recursion whose stack is deeper than what the kernel copies for a sample, and for a part of the time
 * without the recursion:
 *
 *     deep cpu SECONDS
 */
#include "truth.h"

BURN(burn_deep)
BURN(burn_flat)

OWN long recurse(long levels) {
    volatile char frame[256];
    frame[0] = 1;
    if (levels == 0)
        burn_deep(1000);
    else
        frame[0] += (char)recurse(levels - 1);
    return frame[0];
}

OWN void flat(void) {
    burn_flat(1000);
    __asm__ volatile("");
}

int main(int argc, char **argv) {
    begin(argc, argv);
    double start = seconds(measured_clock);
    for (long round = 0; goes_on(round, start); round++) {
        recurse(1000);
        flat();
    }
    return 0;
}
