/* Inlined functions whose code has several ranges: DWARF 2 cannot describe these, and `scale` and `square` are inside
 * of them. */
#include <stdio.h>

static inline int square(int value) {
    return value * value;
}

static inline __attribute__((always_inline)) int scale(int value) {
    int result = square(value);
    if (result > 100)
        result -= square(3);
    return result * value;
}

static int total(int count) {
    int sum = 0;
    for (int at = 0; at < count; at++)
        sum += square(at) + scale(at);
    return sum;
}

int rare(int count) {
    return count > 3 ? square(count) : total(count);
}

__attribute__((noinline)) long opaque(long value) {
    __asm__ volatile("");
    return value;
}

int main(int argc, char **argv) {
    (void)argv;
    long result = opaque(argc) + total(argc + 10);
    if (argc > 5)
        result += rare(argc);
    printf("%ld\n", result);
    return 0;
}
