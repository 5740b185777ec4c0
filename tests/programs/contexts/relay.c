/* The way to `work` goes through a shared object, which works too: this file with OBJECT. The program is linked with
 * the object, or with OPENED opens and closes ./relay.so in each round. */
#ifdef OBJECT

#include "truth.h"

BURN(burn_here)

/* Calls back, works, and returns the number of samples that the object has sent. */
OWN long relay(void (*back)(long, int), long n, int is_dear, int hand) {
    by_hand = hand;
    back((n + 1) / 2, is_dear);
    burn_here(n / 2);
    return hand ? n / 2 : 0;
}

#else

#define REACH
#include "callers.h"

#include <dlfcn.h>

typedef long relay_type(void (*)(long, int), long, int, int);

TRUTH(relay);

static void measured_work(long n, int is_dear) { COUNT(work, work(n, is_dear)); }

#ifdef OPENED
static relay_type *relay;
static void *object;
static void open_relay(void) {
    object = dlopen("./relay.so", RTLD_NOW);
    if (!object || !(relay = (relay_type *)dlsym(object, "relay")))
        exit(99);
}
static void close_relay(void) { dlclose(object); }
#else
extern relay_type relay;
static void open_relay(void) {}
static void close_relay(void) {}
#endif

OWN void reach(long n, int is_dear) { COUNT(relay, sent += relay(measured_work, n, is_dear, by_hand)); }

int main(int argc, char **argv) {
    begin(argc, argv);
    double start = seconds(measured_clock);
    for (long round = 0; goes_on(round, start); round++) {
        open_relay();
        MEASURE(cheap, cheap());
        close_relay();
        open_relay();
        MEASURE(dear, dear());
        close_relay();
    }
    print();
    PRINT_COUNT(relay);
    return 0;
}

#endif
