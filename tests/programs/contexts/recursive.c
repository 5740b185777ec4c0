/* `reach` calls itself: half of the units, and then the rest one level below. */
#define REACH
#include "callers.h"

OWN void reach(long n, int is_dear) {
    COUNT(work, work((n + 1) / 2, is_dear));
    if (n > 1)
        COUNT(reach, reach(n / 2, is_dear));
}

int main(int argc, char **argv) {
    begin(argc, argv);
    call_both();
    print();
    return 0;
}
