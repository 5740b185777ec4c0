/* Many functions with names of every kind: a stage for profiles that no run would produce. */
#include <stdio.h>

static volatile unsigned long sink;

#define ONE(name) \
    void name(unsigned long n) { sink += n; sink ^= n << 3; }
#define HIDDEN(name) \
    static __attribute__((used)) void name(unsigned long n) { sink += n; }
#define TEN(name)                                                                            \
    ONE(name##0) ONE(_##name##1) ONE(name##2) HIDDEN(name##3) ONE(__##name##4) ONE(name##5) \
    HIDDEN(_##name##6) ONE(name##7) ONE(name##8) ONE(name##9)

TEN(q) TEN(b) TEN(zz) TEN(Upper) TEN(m) TEN(long_name_that_takes_more_than_one_column_) TEN(x) TEN(k)

int main(void)
{
    q0(1);
    b5(2);
    printf("q0 1 b5 1\n");
    return 0;
}
