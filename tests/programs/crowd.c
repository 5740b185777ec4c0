/* More functions than any report needs for groups of all sizes: a stage for synthetic profiles. */
static volatile unsigned long sink;

#define ONE(name) \
    void name(unsigned long n) { sink += n; }
#define TEN(name)                                                                             \
    ONE(name##0) ONE(name##1) ONE(name##2) ONE(name##3) ONE(name##4) ONE(name##5) ONE(name##6) \
    ONE(name##7) ONE(name##8) ONE(name##9)
#define HUNDRED(name)                                                                         \
    TEN(name##0) TEN(name##1) TEN(name##2) TEN(name##3) TEN(name##4) TEN(name##5) TEN(name##6) \
    TEN(name##7) TEN(name##8) TEN(name##9)

HUNDRED(a) HUNDRED(b) HUNDRED(c) HUNDRED(d) HUNDRED(e) HUNDRED(f)

int main(void)
{
    a00(1);
    return 0;
}
