/*
 * Samples itself where a walk must not trust what it finds: walks CASE [ERROR]
 *
 *     misled              5 samples in `misled`, whose frame pointer is garbage and which has no unwind table
 *     own ERROR           the same, behind a system-call filter that answers rt_sigprocmask with an error
 *     inherited ERROR     executes itself with `misled`, behind that filter
 *     usual               5 samples behind a filter that lets a thread change its signal mask in the usual ways only
 *     unwritable          the 5 samples in `misled`, then a filter that forbids opening files
 *     stalled [killed]    a sample in another thread whose walk never ends; then 5 samples; with `killed`, a snapshot
 *                         and SIGKILL
 */
#define _GNU_SOURCE
#include <errno.h>
#include <gmon.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sample.h"

/* Sets the frame pointer and sends the thread the sampling signal, which arrives right after the system call. The
 * branch keeps a walk from passing the function by the instructions of its end. */
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

static void forbid_unusual_masks(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SIG_SETMASK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        exit(77);
}

static int listener = -1;

__attribute__((noinline, noclone)) void spin(int times) {
    SAMPLES(times);
}

/* A system call that the runtime does not see. */
static long direct(long number, long a, long b, const void *c) {
#ifdef __aarch64__
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register const void *x2 __asm__("x2") = c;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#else
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
#endif
}

/* The kernel asks a supervisor before it says whether memory can be read. Nobody answers, so a walk of this thread
   never ends. A walk asks by blocking the signals of a set (0 is SIG_BLOCK) at the start of a page; the runtime's other
   sets are elsewhere. */
static void *stall(void *unused) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIG_BLOCK, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0xfff, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    /* A runtime that knew the filter would not ask. */
    int made = direct(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    if (made < 0)
        _exit(77);
    __atomic_store_n(&listener, made, __ATOMIC_SEQ_CST);
    spin(1);
    return unused;
}

static void wait_for_stalled_walk(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, stall, NULL) != 0)
        exit(99);
    while (__atomic_load_n(&listener, __ATOMIC_SEQ_CST) < 0)
        usleep(1000);
    struct pollfd asked = {.fd = listener, .events = POLLIN};
    while (poll(&asked, 1, -1) != 1) {
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "misled";
    long process = getpid(), thread = syscall(SYS_gettid);
    if (strcmp(what, "stalled") == 0) {
        wait_for_stalled_walk();
        spin(5);
        if (argc > 2) {
            gmon_dump();
            raise(SIGKILL);
        }
        return 0;
    }
    if (strcmp(what, "usual") == 0) {
        forbid_unusual_masks();
        spin(5);
        return 0;
    }
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
