/* main is in a cycle, and no profiled function outside calls any member of it. */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned long sink;

int main(int argc, char **argv);

void again(int depth, char **argv)
{
    for (int i = 0; i < 200000; i++)
        sink += i;
    if (depth < 40)
        main(depth + 1, argv);
}

void helper(int depth)
{
    for (int i = 0; i < 50000; i++)
        sink += depth;
}

int main(int argc, char **argv)
{
    helper(argc);
    again(argc, argv);
    return 0;
}
