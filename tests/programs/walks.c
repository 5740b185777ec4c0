/*
 * Samples itself where a walk must not trust what it finds: walks CASE [ERROR]
 *
 *     misled              5 samples in `misled`, whose frame pointer is garbage and which has no unwind table
 *     own ERROR           the same, behind a system-call filter that answers rt_sigprocmask with an error
 *     inherited ERROR     executes itself with `misled`, behind that filter
 *     unwritable          the same 5 samples, then a filter that forbids opening files
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sets the frame pointer and sends the thread the sampling signal, which arrives right after the system call. The branch keeps
 * a walk from passing the function by the instructions of its end. */
void misled(long frame_pointer, long process, long thread);
#ifdef __aarch64__
__asm__(".text\n.globl misled\n.type misled, %function\nmisled:\n"
        "stp x29, x30, [sp, #-16]!\nmov x29, sp\nmov x29, x0\n"
        "mov x0, x1\nmov x1, x2\nmov x2, #60\nmov x8, #131\nsvc #0\n"
        "cbz x0, 1f\n1: ldp x29, x30, [sp], #16\nret\n.size misled, . - misled\n");
#else
__asm__(".text\n.globl misled\n.type misled, @function\nmisled:\n"
        "push %rbp\nmov %rsp, %rbp\nmov %rdi, %rbp\n"
        "mov %rsi, %rdi\nmov %rdx, %rsi\nmov $60, %edx\nmov $234, %eax\nsyscall\n"
        "test %eax, %eax\njz 1f\n1: pop %rbp\nret\n.size misled, . - misled\n");
#endif

static void forbid(unsigned number, unsigned error) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {4, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        exit(77);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "misled";
    long process = getpid(), thread = syscall(SYS_gettid);
    if (argc > 2)
        forbid(SYS_rt_sigprocmask, atoi(argv[2]));
    if (strcmp(what, "inherited") == 0) {
        execl(argv[0], argv[0], "misled", (char *)NULL);
        return 99;
    }
    /* A multiple of 16 above every stack, where no program has memory. */
    for (int sample = 0; sample < 5; sample++)
        misled(1L << 54, process, thread);
    if (strcmp(what, "unwritable") == 0)
        forbid(SYS_openat, 1);
    return 0;
}
