// The program whose images are in this directory. It needs no library.

// MinGW's compiler calls this function at the beginning of main.
extern "C" void __main() {}

#ifdef _WIN32
// The symbols between which MinGW's runtime samples. The linker defines etext if the program uses it.
__asm__(".text\n.globl __eprol\n__eprol:\n");
extern char end_of_text __asm__("etext");
char *end_of_samples = &end_of_text;
#endif

static volatile unsigned long sink;

static inline __attribute__((always_inline)) void add(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        sink += i;
}

static __attribute__((noinline)) void burn(unsigned long count)
{
    add(count);
}

namespace shapes {

__attribute__((noinline)) int area(int width)
{
    burn(200);
    return width * 2;
}

} // namespace shapes

extern "C" __attribute__((noinline)) int twice(int width)
{
    return shapes::area(width) + shapes::area(width + 1);
}

int main()
{
    return twice(3);
}
