/*
 * Executes a program without some system calls, as in old kernels and strict containers:
 *
 *     lacks ERROR CALL[,CALL]... PROGRAM [ARGUMENT...]
 *
 * Each of the calls fails with that error number. Exits with 77 if the system has no system-call filters.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_rseq
#ifdef __aarch64__
#define SYS_rseq 293
#else
#define SYS_rseq 334
#endif
#endif

static const struct { const char *name; unsigned number; } calls[] = {
    {"timer_create", SYS_timer_create},
    {"setitimer", SYS_setitimer},
    {"perf_event_open", SYS_perf_event_open},
    {"rseq", SYS_rseq},
    {"set_robust_list", SYS_set_robust_list},
    {"statx", SYS_statx},
    {"fallocate", SYS_fallocate},
};
enum { CALLS = sizeof calls / sizeof *calls };

int main(int argc, char **argv) {
    struct sock_filter steps[2 * CALLS + 2] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog filter = {1, steps};
    if (argc < 4)
        return 2;
    for (char *name = strtok(argv[2], ","); name; name = strtok(NULL, ",")) {
        int call = 0;
        while (call < CALLS && strcmp(calls[call].name, name) != 0)
            call++;
        if (call == CALLS || filter.len + 3 > sizeof steps / sizeof *steps) {
            fprintf(stderr, "lacks: %s is not known\n", name);
            return 2;
        }
        steps[filter.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[call].number, 0, 1);
        steps[filter.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)atoi(argv[1]));
    }
    steps[filter.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 77;
    execv(argv[3], argv + 3);
    return 99;
}
