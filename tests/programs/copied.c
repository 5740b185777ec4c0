/* Code in copies that gcc makes of functions: the cold parts of `branches`, one of which begins with code of `finish`,
 * and of `main`. */
#include <stdlib.h>

volatile int sink;

__attribute__((cold, noinline)) void report(int code) {
    sink += code;
    exit(code);
}

static inline __attribute__((always_inline)) void finish(int code) {
    sink = code;
    report(code);
}

__attribute__((noinline)) int branches(int value) {
    if (__builtin_expect(value == 3, 0)) {
        finish(1);
        return 0;
    }
    if (__builtin_expect(value == 4, 0)) {
        report(2);
        sink = 2;
    }
    return value * 7;
}

__attribute__((noinline)) int plain(int value) {
    if (__builtin_expect(value == 5, 0)) {
        sink = 5;
        report(3);
        sink = 6;
    }
    return value * 9;
}

int main(int argc, char **argv) {
    (void)argv;
    return branches(argc) + plain(argc) == 0;
}
