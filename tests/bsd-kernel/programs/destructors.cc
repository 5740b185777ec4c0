// Calls and ticks in constructors and destructors, of C++ objects and of the arrays. The program prints the expected counts.
extern "C" {
#include "bsd.h"
}

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

PART static void f() { KEEP; }
PART static void g() { KEEP; }

struct T {
    PART T() { f(); KEEP; }
    PART ~T() {
        ticks(50);
        for (int at = 0; at < 1000; at++) f();
    }
};
static T object;

extern "C" {
void *__dso_handle;
__attribute__((constructor)) PART void first() { g(); KEEP; }
__attribute__((destructor)) PART void last() {
    ticks(70);
    for (int at = 0; at < 30; at++) g();
    KEEP;
}
PART void at_exit() {
    for (int at = 0; at < 5; at++) g();
    KEEP;
}

int main() {
    CHECK(atexit(at_exit) == 0);
    say("calls _ZN1TC2Ev 1\ncalls _ZN1TD2Ev 1\narc _ZN1TC2Ev _ZL1fv 1\narc _ZN1TD2Ev _ZL1fv 1000\ncalls first 1\ncalls last 1\n"
        "arc last _ZL1gv 30\narc first _ZL1gv 1\narc at_exit _ZL1gv 5\nticks _ZN1TD2Ev 50\nticks last 70\n");
    return 0;
}
}
