/* `reach` catches what `thrower` throws from below `pass`. `work` runs before the throw, in a destructor during unwinding, and in the
 * handler. */
#define REACH
#include "callers.h"

TRUTH(pass);
TRUTH(thrower);

struct Guard {
    long n;
    int is_dear;
    OWN ~Guard() { COUNT(work, work(n, is_dear)); }
};

extern "C" OWN void thrower(long n, int is_dear) {
    COUNT(work, work(n, is_dear));
    throw n;
}

/* Adds up the samples of a function that an exception leaves. */
struct Measured {
    long before, &cost;
    OWN explicit Measured(long &cost) : before(sent), cost(cost) {}
    OWN ~Measured() { cost += sent - before; }
};

extern "C" OWN void pass(long n, int is_dear) {
    Guard guard{n / 3, is_dear};
    Measured measured(cost_of_thrower);
    thrower(n / 3, is_dear);
}

extern "C" OWN void reach(long n, int is_dear) {
    try {
        Measured measured(cost_of_pass);
        pass(n / 3 * 3, is_dear);
    } catch (long third) {
        COUNT(work, work(n - 2 * third, is_dear));
    }
}

int main(int argc, char **argv) {
    begin(argc, argv);
    call_both();
    print();
    PRINT_COUNT(pass);
    PRINT_COUNT(thrower);
    return 0;
}
