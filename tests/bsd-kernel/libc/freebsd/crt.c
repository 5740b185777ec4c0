// A start-up object without profiling, for programs that test the tests' kernel.
#include "bsd.h"

char **environ;
const char *__progname = "";
int main(int, char **, char **);
void __libc_start1(int, char **, char **, void (*)(void), int (*)(int, char **, char **));

// rdi (x0 on arm64) is the address of argc. All other registers are 0 or unspecified.
#ifdef __aarch64__
__asm__(".text; .globl _start; .type _start, @function\n"
        "_start: mov x29, #0; mov x30, #0; mov x1, x2; mov x2, sp; b start_c");
#else
__asm__(".text; .globl _start; .type _start, @function\n"
        "_start: xor %ebp, %ebp; mov %rsp, %rdx; and $-16, %rsp; call start_c; hlt");
#endif

u64 entry_stack_pointer;

__attribute__((used)) static void start_c(long *argc, void (*cleanup)(void), u64 stack_pointer) {
    entry_stack_pointer = stack_pointer;
    __libc_start1((int)*argc, (char **)(argc + 1), (char **)(argc + 2 + *argc), cleanup, main);
}

__asm__(".pushsection .note.tag,\"a\",@note; .balign 4; .long 8, 4, 1; .asciz \"FreeBSD\"; .long 1400097;"
        ".long 8, 4, 2; .asciz \"FreeBSD\"; .long 0; .popsection");
