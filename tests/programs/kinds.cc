/* Functions of every kind in symbol tables: chosen at run time, unique, weak, local, in other files. */

#include <cstdio>

static int one() { return 1; }

extern "C" {
typedef int (*chosen_type)();
static chosen_type choose() { return one; }
int chosen() __attribute__((ifunc("choose")));
__attribute__((weak)) int weak_one() { return 2; }
__asm__(".text\n.globl unique_one\n.type unique_one, @gnu_unique_object\nunique_one: ret\n");
__asm__(".text\n.type copy_of.part.0, @function\ncopy_of.part.0: ret\n.size copy_of.part.0, 1\n");
}

int main()
{
    std::printf("%d %d\n", chosen(), weak_one());
    return 0;
}
