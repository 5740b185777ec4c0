/* A program of three languages. It calls a function of each, and prints the calls. */
#include <stdio.h>

__attribute__((noinline)) int in_c(int number);
int in_cxx(int number);
int in_fortran(int number);

int in_c(int number)
{
    return number + 1;
}

int call_all(void)
{
    int sum = 0;
    for (int i = 0; i < 11; i++)
        sum += in_c(i);
    for (int i = 0; i < 22; i++)
        sum += in_cxx(i);
    for (int i = 0; i < 33; i++)
        sum += in_fortran(i);
    return sum;
}

#ifndef NO_MAIN
int main(void)
{
    int sum = call_all();
    printf("calls in_c 11\ncalls in_cxx 22\ncalls in_fortran 33\n");
    return sum != 66 + 22 * 21 / 2 + 33;
}
#endif
