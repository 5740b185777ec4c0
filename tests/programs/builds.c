/*
 * Two builds of a program: with -DBASE the base, and without the later build. They differ in a function that only one
 * of them has, and in what the compiler calls its copy of a function.
 */
#ifdef BASE
#define COPY "helper.constprop.0"
#else
#define COPY "helper.isra.0"
#endif

static int helper(int number) __asm__(COPY);

__attribute__((noinline)) static int helper(int number) { __asm__ volatile(""); return number + 1; }

__attribute__((noinline)) static int local(int number) { __asm__ volatile(""); return number + 2; }

__attribute__((noinline)) int slower(int number) { __asm__ volatile(""); return number + 3; }

__attribute__((noinline)) int steady(int number) { __asm__ volatile(""); return number + 4; }

#ifdef BASE
__attribute__((noinline)) int removed(int number) { __asm__ volatile(""); return number + 5; }
#else
__attribute__((noinline)) int added(int number) { __asm__ volatile(""); return number + 6; }
#endif

int other(int number);

int main(void) {
    int number = helper(1) + local(2) + slower(3) + steady(4) + other(5);
#ifdef BASE
    number += removed(6);
#else
    number += added(6);
#endif
    return number == 0;
}
