// C++: virtual functions, constructors and destructors of static objects, templates. The program prints the expected counts.
extern "C" {
#include "bsd.h"
}

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

// The parts of the C++ library that compilers refer to.
extern "C" {
void *__dso_handle;
void __cxa_pure_virtual() { _exit(98); }
}

struct Shape {
    virtual int area() const = 0;
};
struct Circle : Shape {
    PART int area() const override { KEEP; return 3; }
};
struct Square : Shape {
    PART int area() const override { KEEP; return 4; }
};

struct Counted {
    PART Counted() { KEEP; }
    PART ~Counted() { KEEP; }
};
static Counted first, second;

template <int N> PART int chain() { int below = chain<N - 1>(); KEEP; return below + 1; }
template <> PART int chain<0>() { KEEP; return 0; }

PART static int measure(const Shape *const *shapes, int times) {
    int sum = 0;
    for (int at = 0; at < times; at++) sum += shapes[at % 3]->area();
    return sum;
}

extern "C" int main() {
    static const Circle circle;
    static const Square square;
    static const Shape *const shapes[] = {&circle, &square, &square};
    CHECK(measure(shapes, 300) == 1100 && chain<5>() == 5);
    say("calls _ZNK6Circle4areaEv 100\ncalls _ZNK6Square4areaEv 200\ncalls _ZN7CountedC2Ev 2\ncalls _ZN7CountedD2Ev 2\n"
        "calls _Z5chainILi0EEiv 1\ncalls _Z5chainILi4EEiv 1\n");
    return 0;
}
