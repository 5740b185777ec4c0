/* Copies of a function with compiler-made names. clones_one.c has copies of a function of the same name. */
static volatile unsigned long sink;

static __attribute__((noinline)) void work(int n)
{
    sink += n;
}

static __attribute__((noinline)) void part(int n) __asm__("work.part.0");
static __attribute__((noinline)) void part(int n)
{
    sink += 2 * n;
    work(n);
}

static __attribute__((noinline, section(".text.unlikely"))) void cold(int n) __asm__("work.cold");
static __attribute__((noinline, section(".text.unlikely"))) void cold(int n)
{
    sink ^= n;
}

void other(void)
{
    part(1);
    cold(1);
}
