#include "shared.h"

int other(int);

static __attribute__((noipa)) int first(int n) {
    volatile int sum = 0;
    return square_of_the_shared_header(n, &sum);
}

void _start(void) {
    for (;;) first(3) + other(3);
}
