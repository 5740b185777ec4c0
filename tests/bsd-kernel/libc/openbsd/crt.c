// A start-up object without profiling, for programs that test the tests' kernel.
#include "bsd.h"

int main(int, char **, char **);
char ***_csu_finish(char **, char **, void (*)(void));
typedef void (*initializer)(int, char **, char **, void *);
extern const initializer __preinit_array_start[] __attribute__((visibility("hidden")));
extern const initializer __preinit_array_end[] __attribute__((visibility("hidden")));
extern const initializer __init_array_start[] __attribute__((visibility("hidden")));
extern const initializer __init_array_end[] __attribute__((visibility("hidden")));

__asm__(".text; .globl __start; .type __start, @function\n"
        "__start: endbr64; mov %rdx, %rcx; mov %rsp, %rdi; and $-16, %rsp; sub $8, %rsp; jmp start_c");

__attribute__((used)) static void start_c(long *words) {
    int argc = (int)*words;
    char **argv = (char **)(words + 1), **env = argv + argc + 1;
    char ***environment = _csu_finish(argv, env, NULL);
    for (const initializer *at = __preinit_array_start; at < __preinit_array_end; at++) (*at)(argc, argv, env, NULL);
    for (const initializer *at = __init_array_start; at < __init_array_end; at++) (*at)(argc, argv, env, NULL);
    exit(main(argc, argv, *environment));
}

__asm__(".pushsection .note.openbsd.ident,\"a\",@note; .balign 4; .long 8, 4, 1; .asciz \"OpenBSD\"; .long 0; .popsection");
