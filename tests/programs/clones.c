/* Copies of functions, with compiler-made names. */
#include <stdio.h>

static volatile unsigned long sink;

void work(int n)
{
    sink += n;
}

__attribute__((noinline)) static void part(int n) __asm__("work.part.0");
__attribute__((noinline)) static void part(int n)
{
    sink += 2 * n;
}

__attribute__((noinline)) static void cold(int n) __asm__("gone.cold");
__attribute__((noinline)) static void cold(int n)
{
    sink ^= n;
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        work(i);
        part(i);
        cold(i);
    }
    printf("work 3 work.part.0 3 gone.cold 3\n");
    return 0;
}
