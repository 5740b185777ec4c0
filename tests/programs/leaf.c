/* A loop over leaf functions of different weight. Prints the number of calls of each. */
#include <stdio.h>

static volatile unsigned long sink;

void heavy(unsigned long n)
{
    for (unsigned long i = 0; i < n * 200; i++)
        sink += i;
}

void light(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i;
}

void middle(unsigned long n)
{
    light(n);
    heavy(n);
    light(n);
}

int main(void)
{
    for (int i = 0; i < 3000; i++)
        middle(100);
    for (int i = 0; i < 500; i++)
        light(i);
    printf("middle 3000\nheavy 3000\nlight 6500\n");
    return 0;
}
