/*
 * `hot` samples itself at its last byte, which is in one bin with three bytes of `never`. The program does not call
 * `never`.
 */
#define _GNU_SOURCE
#include "sample.h"

/* The signal arrives at the `ret`, 12 bytes after the beginning of `hot`. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl hot\n"
        ".type hot, @function\n"
        "hot:\n"
        ".cfi_startproc\n"
        "mov $234, %eax\n"
        "mov $60, %edx\n"
        "syscall\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size hot, .-hot\n"
        ".globl never\n"
        ".type never, @function\n"
        "never:\n"
        "nop\n"
        "nop\n"
        "ret\n"
        ".size never, .-never\n");

void hot(long process_id, long thread_id);
void never(void);

int main(int argc, char **argv) {
    (void)argv;
    long process_id = getpid(), thread_id = syscall(SYS_gettid);
    if (argc > 5)
        never();
    for (int i = 0; i < 400; i++)
        hot(process_id, thread_id);
    return 0;
}
