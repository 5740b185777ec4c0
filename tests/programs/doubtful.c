/*
 * Calls two functions with one instruction: `work`, and `relay`, which ends in a tail call of `work`. No stack tells which of
 * the two was called.
 */
#define _GNU_SOURCE
#include <unistd.h>
#include "sample.h"

#define FUNCTION __attribute__((noinline, noclone))

static volatile int calls;

FUNCTION void work(int samples) {
    long process_id = getpid(), thread_id = syscall(SYS_gettid);
    while (samples-- > 0) {
        SAMPLE(process_id, thread_id)
    }
    __asm__ volatile("");
}

FUNCTION void relay(int samples) {
    calls++;
    work(samples);
}

static void (*volatile pointers[])(int) = {work, relay};

int main(void) {
    for (int i = 0; i < 10; i++)
        pointers[i & 1](20);
    return 0;
}
