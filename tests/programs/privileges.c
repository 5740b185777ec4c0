/* Calls a function of its own and one of a shared object, and in between gives up something for each word. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <gmon.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/landlock.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int serve(int times, int samples, int (*back)(int));

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

static void check(int result, const char *what)
{
    if (result != 0) {
        perror(what);
        exit(99);
    }
}

static int limit(void)
{
    struct rlimit limit;
    check(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    return limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
}

/* The number of open descriptors beyond the standard ones. Those that existed at the program's start are not closed
   at exec; all others must be, and must be as high as possible. */
static int descriptors(void)
{
    int open = 0, lowest = limit() < 1024 ? limit() - 8 : 1016;
    for (int fd = 3; fd < limit(); fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags == -1)
            continue;
        if ((fd < lowest) == !!(flags & FD_CLOEXEC))
            printf("descriptor %d has flags %d\n", fd, flags);
        if (fd > 1023)
            printf("descriptor %d makes the table longer\n", fd);
        open++;
    }
    return open;
}

/* The program itself has no descriptor that closes at exec. */
static void held(void)
{
    for (int fd = 3; fd < limit(); fd++)
        if (fcntl(fd, F_GETFD) > 0)
            printf("descriptor %d is held\n", fd);
}

static void close_all(void)
{
    for (int fd = 3; fd < limit(); fd++)
        close(fd);
}

/* The child continues with the remaining words; its parent waits for it and ends. */
static void in_child(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    exit(WEXITSTATUS(status));
}

/* Forbids to open files for writing, and to change directories. The status 98 says that the kernel cannot. */
static void landlock(void)
{
    struct landlock_ruleset_attr all = {.handled_access_fs = 0x1fff};
    int rules = syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0)
        exit(98);
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl");
    check(syscall(SYS_landlock_restrict_self, rules, 0) || close(rules), "landlock");
    check(open("another", O_WRONLY | O_CREAT, 0666) != -1, "a file was created");
}

/* Sets both limits of a resource, or the soft limit. */
static void set_limit(int resource, rlim_t limit, int is_hard)
{
    struct rlimit found;
    check(getrlimit(resource, &found), "getrlimit");
    found.rlim_cur = limit;
    if (is_hard)
        found.rlim_max = limit;
    check(setrlimit(resource, &found), "setrlimit");
}

static void give_up(const char *what)
{
    char directory[4096], other[4096 + 6];
    if (strcmp(what, "setuid") == 0) {
        check(setgroups(0, NULL) || setgid(65534) || setuid(65534), what);
    } else if (strcmp(what, "seteuid") == 0) {
        check(seteuid(65534), what);
    } else if (strcmp(what, "chroot") == 0) {
        mkdir("cage", 0755);
        check(chroot("cage") || chdir("/"), what);
    } else if (strcmp(what, "chdir") == 0) {
        check(chdir("/"), what);
    } else if (strcmp(what, "nodump") == 0) {
        check(prctl(PR_SET_DUMPABLE, 0), what);
    } else if (strcmp(what, "userns") == 0) {
        check(unshare(CLONE_NEWUSER), what);
    } else if (strcmp(what, "pidns") == 0) {
        check(unshare(CLONE_NEWPID), what);
    } else if (strcmp(what, "noproc") == 0) {
        check(unshare(CLONE_NEWNS), what);
        check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), what);
        check(mount("none", "/proc", "tmpfs", 0, NULL), what);
    } else if (strcmp(what, "close") == 0) {
        close_all();
    } else if (strcmp(what, "nofile") == 0) {
        set_limit(RLIMIT_NOFILE, 0, 1);
    } else if (strcmp(what, "fewfiles") == 0) {
        set_limit(RLIMIT_NOFILE, 3, 0);
    } else if (strcmp(what, "landlock") == 0) {
        landlock();
    } else if (strcmp(what, "softsize") == 0) {
        set_limit(RLIMIT_FSIZE, 0, 0);
    } else if (strcmp(what, "nosize") == 0) {
        set_limit(RLIMIT_FSIZE, 0, 1);
    } else if (strcmp(what, "issoft") == 0) {
        struct rlimit size;
        check(getrlimit(RLIMIT_FSIZE, &size) || size.rlim_cur != 0 || size.rlim_max == 0, what);
    } else if (strcmp(what, "memory") == 0) {
        set_limit(RLIMIT_AS, 4096, 1);
    } else if (strcmp(what, "none") == 0) {
        held();
    } else if (strcmp(what, "moved") == 0) {
        check(getcwd(directory, sizeof directory) == NULL, what);
        snprintf(other, sizeof other, "%s.moved", directory);
        check(rename(directory, other), what);
    } else if (strcmp(what, "umask") == 0) {
        umask(0);
    } else if (strcmp(what, "rmdir") == 0) {
        check(getcwd(directory, sizeof directory) == NULL, what);
        unlink("gmon.out");
        unlink("gmon.out.side"); /* the superuser's */
        check(chdir("/") || rmdir(directory), what);
    } else if (strcmp(what, "fork") == 0) {
        in_child();
    } else if (strcmp(what, "hold") == 0) {
        puts("here");
        fflush(stdout);
        while (getchar() != EOF) {
        }
    } else if (strcmp(what, "dump") == 0) {
        gmon_dump();
    } else if (strcmp(what, "kill") == 0) {
        counted();
        raise(SIGKILL);
    } else if (strcmp(what, "exec") == 0) {
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        check(-1, what);
    } else if (strcmp(what, "obstruct") == 0) {
        snprintf(directory, sizeof directory, "gmon.program.%d-2.out", getpid());
        check(rename(directory, "aside") || mkdir(directory, 0700), what);
        gmon_dump();
        check(rmdir(directory) || rename("aside", directory), what);
    } else if (strcmp(what, "descriptors") == 0) {
        descriptors();
    } else if (strcmp(what, "dumps") == 0) {
        gmon_dump();
        int before = descriptors();
        for (int time = 0; time < 5; time++)
            gmon_dump();
        if (descriptors() != before)
            printf("%d descriptors were %d before\n", descriptors(), before);
    } else {
        check(-1, what);
    }
}

int main(int argc, char **argv)
{
    counted();
    serve(3, 0, NULL);
    for (int word = 1; word < argc; word++)
        give_up(argv[word]);
    counted();
    serve(4, 0, NULL);
    return 7;
}
