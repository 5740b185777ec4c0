/* With same_two.c: static functions with the same name in two files. */
#include <stdio.h>

static volatile unsigned long sink;

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

static void only_here(void)
{
    work(10);
}

void other_file(int n);

int main(void)
{
    for (int i = 0; i < 1000; i++) {
        work(1000);
        only_here();
        other_file(i);
    }
    printf("work 2000 other_file 1000\n");
    return 0;
}
