/*
 * Executes a program with some system calls forbidden, as in many containers:
 *
 *     forbid perf PROGRAM [ARGUMENT...]      perf_event_open
 *     forbid timers PROGRAM [ARGUMENT...]    timer_create
 *     forbid statx PROGRAM [ARGUMENT...]     statx
 *     forbid rename PROGRAM [ARGUMENT...]    renameat
 *     forbid kill PROGRAM [ARGUMENT...]      renameat, which kills the process
 *
 * Exits with 77 if the system has no system-call filters.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    unsigned number = strcmp(what, "timers") == 0 ? SYS_timer_create
                      : strcmp(what, "statx") == 0 ? SYS_statx
                      : strcmp(what, "rename") == 0 || strcmp(what, "kill") == 0 ? SYS_renameat
                                                                                 : SYS_perf_event_open;
    unsigned result = strcmp(what, "kill") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, result),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    if (argc < 3)
        return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 77;
    execv(argv[2], argv + 2);
    return 99;
}
