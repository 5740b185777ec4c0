/* Functions whose order in memory differs from the order of their calls. Prints a number. */
#include <stdio.h>

#define OWN __attribute__((noinline, noclone))

static volatile long sum;

OWN void never(void) { sum += 3; }

OWN void rare(long n) {
    sum += n;
    if (n < 0)
        never();
}

OWN static void leaf(long n) { sum ^= n; }

OWN void unused(void) { sum -= 1; }

OWN void middle(long n) {
    for (long i = 0; i < 100; i++)
        leaf(n + i);
}

OWN void cold(void) { unused(); }

OWN void top(void) {
    for (long i = 0; i < 1000; i++)
        middle(i);
    rare(1);
}

int main(void) {
    top();
    if (sum == -1)
        cold();
    printf("%ld\n", sum);
    return 0;
}
