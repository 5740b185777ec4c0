/* Uses the controls of gmon.h. */
#include <gmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }
__attribute__((noinline)) void uncounted(void) { __asm__ volatile(""); }

__attribute__((constructor)) static void before_main(void) {
    for (int i = 0; i < 3; i++)
        counted();
}

__attribute__((destructor)) static void after_main(void) {
    for (int i = 0; i < 5; i++)
        counted();
}

static void at_exit(void) { counted(); }

int main(int argc, char **argv) {
    (void)argv;
    atexit(at_exit);
    counted();
    moncontrol(0);
    uncounted();
    moncontrol(1);
    counted();
    if (argc > 1)
        write_profiling();
    counted();
    if (chdir("/") != 0)
        return 1;
    /* 3 before main, 3 in it, 1 at exit, 5 after all that. */
    printf("calls counted 12\ncalls uncounted 0\n");
    fflush(stdout);
    exit(argc > 1 ? 7 : 0);
}
