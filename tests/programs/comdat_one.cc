/* Functions before one that is longer than the gap below all code. */
#include "comdat.h"
volatile int sink;
int other();
static int first(int n)
{
    sink += n;
    return sink;
}
int main()
{
    for (int i = 0; i < 3; i++)
        first(i);
    sink = big<1>(&sink) + other();
    return 0;
}
