/* Runs a command to which the kernel refuses something: refused membarrier|mem COMMAND [ARGUMENT...].

   membarrier  a filter of system calls refuses membarrier(2)
   mem         the file /proc/thread-self/mem of the first thread cannot be opened for writing (root only) */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

static void refuse_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "PR_SET_SECCOMP");
}

static void refuse_mem(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/mem", getpid(), getpid());
    check(unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), "unshare");
    check(mount(path, path, NULL, MS_BIND, NULL), path);
    check(mount("none", path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), path);
    check(open(path, O_RDWR) >= 0 || errno != EROFS, "open");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (!strcmp(argv[1], "membarrier"))
        refuse_membarrier();
    else
        refuse_mem();
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
