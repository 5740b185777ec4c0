/* Several names at one address, in every combination of binding and leading underscores. */
#include <stdio.h>

static volatile unsigned long sink;

void zebra(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

void alpha(int n) __attribute__((alias("zebra")));
void _zebra(int n) __attribute__((alias("zebra")));

void __deep(int n)
{
    zebra(n);
}

void _deep(int n) __attribute__((alias("__deep")));

static void local(int n)
{
    _deep(n);
}

void _global(int n) __attribute__((alias("local")));
void weak_one(int n) __attribute__((weak, alias("local")));

__asm__(".globl not_typed\n.set not_typed, zebra\n");
__asm__(".set _static_label, local\n");

int main(void)
{
    for (int i = 0; i < 1000; i++) {
        alpha(100);
        _zebra(100);
        _global(10);
        weak_one(10);
    }
    printf("zebra 4000\n");
    return 0;
}
