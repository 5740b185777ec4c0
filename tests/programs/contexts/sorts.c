/* The C library's qsort stands between `reach` and `compare`, and has no frame pointer. */
#define REACH
#include "callers.h"

TRUTH(compare);

static __thread long units;
static __thread int is_units_dear;

OWN int compare(const void *one, const void *other) {
    COUNT(work, work(units, is_units_dear));
    return *(const int *)one - *(const int *)other;
}

static int measured_compare(const void *one, const void *other) {
    int difference;
    COUNT(compare, difference = compare(one, other));
    return difference;
}

OWN void reach(long n, int is_dear) {
    int numbers[3] = {3, 1, 2};
    units = (n + 2) / 3;
    is_units_dear = is_dear;
    qsort(numbers, 3, sizeof *numbers, measured_compare);
}

int main(int argc, char **argv) {
    begin(argc, argv);
    call_both();
    print();
    PRINT_COUNT(compare);
    return 0;
}
