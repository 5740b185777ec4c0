/*
 * A loop in assembly, as hand-written code has it: without unwind tables, and without a frame. With OBJECT defined, the
 * source is the loop alone, for a shared object.
 *
 *     PROGRAM SECONDS
 */
#if defined OBJECT || !defined ELSEWHERE
__asm__(".text\n"
        ".p2align 6\n"
        ".globl spin\n"
        ".type spin, %function\n"
        "spin:\n"
#ifdef __x86_64__
        "1: sub $1, %rdi\n"
        "jnz 1b\n"
#else
        "1: subs x0, x0, #1\n"
        "b.ne 1b\n"
#endif
        "ret\n"
        ".size spin, . - spin\n"
        ".p2align 6\n");
#endif

#ifndef OBJECT
#include <stdlib.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone))

void spin(long turns);

static double wanted;
static volatile long done;

OWN void caller(void) {
    spin(1000000);
    done++;
}

OWN void other(void) {
    caller();
    done++;
}

int main(int argc, char **argv) {
    struct timespec time;
    wanted = argc > 1 ? atof(argv[1]) : 0;
    do {
        other();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    } while ((double)time.tv_sec + (double)time.tv_nsec * 1e-9 < wanted);
    return 0;
}
#endif
