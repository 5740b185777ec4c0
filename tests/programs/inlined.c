/* A function that is inlined into another one. */

static volatile unsigned long sum;

static inline __attribute__((always_inline)) void square(unsigned long n)
{
    sum += n * n;
}

__attribute__((noinline)) void outer(unsigned long n)
{
    while (n--)
        square(n);
}

int main(void) {
    outer(1000000);
    return 0;
}
