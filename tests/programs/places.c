/* Calls a function five times, gives up something that writing a file needs, and ends: places WHAT [DIRECTORY]. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <gmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

static void fail(const char *what) {
    perror(what);
    _exit(99);
}

/* Beyond the highest possible descriptor of ours. */
static int limit(void) {
    long limit = sysconf(_SC_OPEN_MAX);
    return limit < 65536 ? (int)limit : 65536;
}

static void close_all(void) {
    for (int fd = 3; fd < limit(); fd++)
        close(fd);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    const char *directory = argc > 2 ? argv[2] : "/";
    for (int i = 0; i < 4; i++)
        counted();
    if (strcmp(what, "chdir") == 0) {
        if (chdir(directory) != 0)
            fail("chdir");
    } else if (strcmp(what, "chroot") == 0) {
        if (chroot(directory) != 0 || chdir("/") != 0)
            fail("chroot");
    } else if (strcmp(what, "setuid") == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            fail("setuid");
    } else if (strcmp(what, "close") == 0) {
        close_all();
        if (chdir(directory) != 0)
            fail("chdir");
    } else if (strcmp(what, "reuse") == 0) {
        /* All descriptors that we believe to be ours are other files now. */
        int fd = open("other", O_RDWR | O_CREAT, 0666);
        if (fd < 0)
            fail("other");
        for (int other = 3; other < limit(); other++)
            if (other != fd)
                dup2(fd, other);
        for (int other = fd + 1; other < fd + 10; other++)
            close(other); /* one descriptor must remain for anyone who opens a file */
        if (write(fd, "precious", 8) != 8)
            fail("write");
    } else if (strcmp(what, "removed") == 0) {
        unlink("gmon.out");
    } else if (strcmp(what, "seccomp") == 0) {
        /* From here on only read, write and exit: not even exit_group. */
        if (prctl(PR_SET_SECCOMP, 1) != 0)
            fail("seccomp");
        counted();
        syscall(SYS_exit, 0);
    } else if (strcmp(what, "daemon") == 0) {
        if (daemon(0, 0) != 0)
            fail("daemon");
    } else if (strcmp(what, "again") == 0) {
        monstartup(0, 1000);
        monstartup(0x400000, 0x500000);
        moncontrol(1);
        counted();
        _mcleanup();
        counted(); /* no more */
        moncontrol(1);
        _mcleanup();
        monstartup(0x400000, 0x500000);
        return 0;
    }
    counted();
    printf("calls counted 5\n");
    return 0;
}
