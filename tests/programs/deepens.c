/* Goes deeper than ever before, step by step, and works at each depth: a signal finds no room below the lowest stack
   pointer so far. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

__attribute__((noinline)) static void work(long turns) {
    for (volatile long i = 0; i < turns; i++)
        ;
}

__attribute__((noinline)) static int deepen(int depth, long turns) {
    volatile char room[200];
    room[0] = 1;
    counted();
    work(turns);
    return depth == 0 ? 1 : room[0] + deepen(depth - 1, turns);
}

int main(int argc, char **argv) {
    int depth = argc > 1 ? atoi(argv[1]) : 1000;
    printf("calls counted %d\n", deepen(depth, argc > 2 ? atol(argv[2]) : 1000));
    return 0;
}
