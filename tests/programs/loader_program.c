/* Calls the functions of loader_library.c, and prints how often they were called: outer from here, inner from here and
   from outer, leaf from inner and from outer. */
#include <stdio.h>
#include <stdlib.h>

extern unsigned long outer_calls, inner_calls, leaf_calls;
unsigned long inner(unsigned long), outer(unsigned long);

int main(int count, char **words) {
    unsigned long rounds = count > 1 ? strtoul(words[1], 0, 10) : 1000, value = 1;
    for (unsigned long i = 0; i < rounds; i++)
        value = outer(value);
    for (int i = 0; i < 5; i++)
        value = inner(value);
    if (value == 0)
        puts("zero");
    printf("%lu %lu %lu\n", outer_calls, inner_calls, leaf_calls);
    return 0;
}
