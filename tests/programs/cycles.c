/* Two cycles: a-b-c, joined by two circles that share b, and d-e with recursion of d itself. The first calls into the
 * second, main into both. */
#include <stdio.h>

static volatile unsigned long sink;

static void burn(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i;
}

void e(int n);

void d(int n)
{
    burn(200);
    if (n > 2)
        d(n - 2);
    if (n > 0)
        e(n - 1);
}

void e(int n)
{
    burn(300);
    if (n > 0)
        d(n - 1);
}

void b(int n);

void a(int n)
{
    burn(500);
    if (n > 0)
        b(n - 1);
}

void c(int n)
{
    burn(700);
    if (n > 0)
        b(n - 1);
    d(3);
}

void b(int n)
{
    burn(100);
    if (n > 0) {
        a(n - 1);
        c(n - 1);
    }
}

int main(void)
{
    for (int i = 0; i < 20; i++)
        a(18);
    c(5);
    d(9);
    e(7);
    burn(100000);
    printf("done\n");
    return 0;
}
