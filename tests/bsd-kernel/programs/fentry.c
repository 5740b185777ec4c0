// A program for -mfentry. gcc pushes r10, the frame of the enclosing function, before the call of __fentry__ in a
// nested function; clang has no nested functions, so assembly takes their place here.
#include "bsd.h"

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

__asm__(".text; .globl nested; .type nested, @function\n"
        "nested: push %r10; call __fentry__; pop %r10; ret; .size nested, . - nested");

PART void leaf(void) { KEEP; }
PART void outer(int times) {
    for (int at = 0; at < times; at++)
        __asm__ volatile("mov %%rsp, %%r10; call nested" : : : "r10", "memory", "cc");
    leaf();
    KEEP;
}
PART void handler(int signal) {
    (void)signal;
    leaf();
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    outer(5);
    raise(SIGUSR1);
    raise(SIGUSR1);
    void (*volatile entry)(void) = leaf;
    entry();
    return 0;
}
