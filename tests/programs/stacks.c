/*
 * Writes its file behind a filter that forbids blocking signals, while a signal arrives: the directory watch's signal,
 * when the file is made. Prints how many of its handlers ran, and how many of those on the stack of the thread. Exits
 * with 77 if the system has no system-call filters.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gmon.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static uintptr_t stack;
static volatile int handled, on_stack;

static void handler(int signal) {
    char here;
    uintptr_t distance = stack - (uintptr_t)&here;
    (void)signal;
    handled++;
    on_stack += distance < 1 << 20;
}

int main(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    int watch = inotify_init1(IN_CLOEXEC);
    stack = (uintptr_t)&action;
    sigaction(SIGIO, &action, NULL);
    if (inotify_add_watch(watch, ".", IN_CREATE | IN_OPEN | IN_CLOSE_WRITE) < 0 || fcntl(watch, F_SETOWN, getpid()) != 0 ||
        fcntl(watch, F_SETFL, O_ASYNC) != 0)
        return 99;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 77;
    gmon_dump();
    signal(SIGIO, SIG_IGN);
    printf("handled %s, on the stack %s\n", handled > 0 ? "some" : "none", on_stack == handled ? "all" : "not all");
    return 0;
}
