/*
 * `cheap` and `dear` call `work` by way of `reach`: `cheap` about a thousand times for one unit each, `dear` once for
 * about a thousand. Both spend about the same time there, but a reader that divides the time of `work` by calls gives
 * nearly all of it to `cheap`.
 *
 * A program defines REACH before it includes this file if it has a `reach` of its own, and TAIL if `dear` shall end in
 * a tail call.
 */
#include "truth.h"

#ifdef __cplusplus
extern "C" {
#endif

BURN(burn_cheap)
BURN(burn_dear)

TRUTH(cheap);
TRUTH(dear);
TRUTH(reach);
TRUTH(work);

static volatile long done;

OWN void work(long n, int is_dear) {
    if (is_dear)
        burn_dear(n);
    else
        burn_cheap(n);
    done++;
}

void reach(long n, int is_dear);
#ifndef REACH
OWN void reach(long n, int is_dear) {
    COUNT(work, work(n, is_dear));
    done++;
}
#endif

OWN void cheap(void) {
    for (long n = random_units(); n > 0; n--)
        COUNT(reach, reach(1, 0));
}

#ifdef TAIL
OWN void dear(void) { reach(random_units(), 1); }
#else
OWN void dear(void) {
    COUNT(reach, reach(random_units(), 1));
    done++;
}
#endif

OWN void call_cheap(void) {
    double start = seconds(measured_clock);
    for (long round = 0; goes_on(round, start); round++)
        MEASURE(cheap, cheap());
}

OWN void call_dear(void) {
    double start = seconds(measured_clock);
    for (long round = 0; goes_on(round, start); round++)
        MEASURE(dear, dear());
}

OWN void call_both(void) {
    double start = seconds(measured_clock);
    for (long round = 0; goes_on(round, start); round++) {
        MEASURE(cheap, cheap());
        MEASURE(dear, dear());
    }
}

static void print(void) {
    PRINT(cheap);
    PRINT(dear);
#ifndef TAIL
    PRINT_COUNT(reach);
    PRINT_COUNT(work);
#endif
}

#ifdef __cplusplus
}
#endif
