// Exceptions through profiled functions.
#include <cstdio>
#include <stdexcept>

#define OWN __attribute__((noinline))

OWN static int counted(int n) {
    asm volatile("");
    return n + 1;
}

struct guard {
    int *n;
    OWN ~guard() { *n = counted(*n); }
};

OWN static int thrower(int depth, int *n) {
    guard here{n};
    if (depth == 0)
        throw std::runtime_error("far enough");
    int result = thrower(depth - 1, n);
    asm volatile("");
    return result;
}

int main() {
    int n = 0, caught = 0;
    for (int i = 0; i < 100; i++) {
        try {
            thrower(9, &n);
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    std::printf("calls _ZL7countedi %d\ncalls _ZL7throweriPi %d\narc _ZL7throweriPi _ZL7throweriPi %d\n", n, 1000, 900);
    return caught != 100;
}
