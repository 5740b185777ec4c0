#include "shared.h"

__attribute__((noipa)) int other(int n) {
    volatile int sum = 1;
    return square_of_the_shared_header(n, &sum);
}
