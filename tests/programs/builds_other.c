/* A function with the name of a function in builds.c. */
__attribute__((noinline)) static int local(int number) { __asm__ volatile(""); return number + 7; }

int other(int number) { return local(number) + 1; }
