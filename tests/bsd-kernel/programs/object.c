// The code of a shared object that a program maps itself: no relocations, and an entry point that returns the addresses
// of functions. PREFIX distinguishes the functions of several objects.
#include "bsd.h"

#define JOINED(prefix, name) prefix##_##name
#define JOIN(prefix, name) JOINED(prefix, name)
#define OWN(name) JOIN(PREFIX, name)
#define TEXT(name) #name
#define NAME(name) TEXT(name)

// Not zero, so that the variable is in the file.
__attribute__((visibility("hidden"), used)) void *volatile mcount_address = (void *)1;

static void set_mcount(void *address) { mcount_address = address; }

// A function as compiled with -pg.
void OWN(leaf)(void);
__asm__(".pushsection .text; .hidden " NAME(OWN(leaf)) "; .globl " NAME(OWN(leaf)) "; .type " NAME(OWN(leaf)) ", @function\n"
        NAME(OWN(leaf)) ": push %rbp; mov %rsp, %rbp; call *mcount_address(%rip); pop %rbp; ret; .popsection");

__attribute__((noinline)) void OWN(spin)(u64 count) {
    ticks(count);
    __asm__ volatile("");
}

__attribute__((noinline)) void OWN(call_back)(void (*function)(void), int times) {
    for (int turn = 0; turn < times; turn++) {
        function();
        OWN(leaf)();
    }
}

// Keeps the compiler from making a table of addresses, which would need relocations.
#define RETURN_ADDRESS(function)                                        \
    do {                                                                \
        const void *address = (const void *)function;                   \
        __asm__ volatile("" : "+r"(address));                           \
        return address;                                                 \
    } while (0)

const void *entry(int which) {
    if (which == 0) RETURN_ADDRESS(set_mcount);
    if (which == 1) RETURN_ADDRESS(OWN(leaf));
    if (which == 2) RETURN_ADDRESS(OWN(spin));
    RETURN_ADDRESS(OWN(call_back));
}
