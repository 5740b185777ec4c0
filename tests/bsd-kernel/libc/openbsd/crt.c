// A start-up object without profiling, for programs that test the tests' kernel.
#include "bsd.h"

int main(int, char **, char **);
void __init(void) __attribute__((visibility("hidden")));
extern char __csu_do_fini_array __attribute__((visibility("hidden")));
char ***_csu_finish(char **, char **, void (*)(void));
typedef void (*initializer)(int, char **, char **, void *);
extern const initializer __preinit_array_start[] __attribute__((visibility("hidden")));
extern const initializer __preinit_array_end[] __attribute__((visibility("hidden")));
extern const initializer __init_array_start[] __attribute__((visibility("hidden")));
extern const initializer __init_array_end[] __attribute__((visibility("hidden")));

__asm__(".text; .globl __start; .type __start, @function\n"
        "__start: endbr64; mov %rdx, %rsi; mov %rsp, %rdi; and $-16, %rsp; sub $8, %rsp; jmp start_c");

__attribute__((used)) static void start_c(long *words, void (*cleanup)(void)) {
    int argc = (int)*words;
    char **argv = (char **)(words + 1), **env = argv + argc + 1;
    char ***environment = _csu_finish(argv, env, cleanup);
    // In a dynamic program, ld.so runs the arrays.
    if (!cleanup) {
        for (const initializer *at = __preinit_array_start; at < __preinit_array_end; at++) (*at)(argc, argv, env, NULL);
        for (const initializer *at = __init_array_start; at < __init_array_end; at++) (*at)(argc, argv, env, NULL);
        __csu_do_fini_array = 1;
    }
    __init();
    exit(main(argc, argv, *environment));
}

