/* A function that several files define and of which the linker keeps one: the other files' lines have no code. */
#define FOUR(x) x x x x
#define MANY(x) FOUR(FOUR(FOUR(FOUR(x))))
template <int n> __attribute__((noinline)) int big(volatile int *sink)
{
    MANY(*sink += n; *sink ^= 7;)
    MANY(*sink -= n; *sink ^= 9;)
    return *sink;
}
