/* `reach` and `other` call each other: half of the units, and then the rest one level below. */
#define REACH
#include "callers.h"

TRUTH(other);

OWN void other(long n, int is_dear) {
    COUNT(work, work((n + 1) / 2, is_dear));
    if (n > 1)
        COUNT(reach, reach(n / 2, is_dear));
}

OWN void reach(long n, int is_dear) {
    COUNT(work, work((n + 1) / 2, is_dear));
    if (n > 1)
        COUNT(other, other(n / 2, is_dear));
}

int main(int argc, char **argv) {
    begin(argc, argv);
    call_both();
    print();
    PRINT_COUNT(other);
    return 0;
}
