/*
 * Installs a system-call filter, or tries to, and goes on: filters CASE [HOW]. The output and the end are the same with
 * and without profiling.
 *
 *     exit                a filter that kills on getpid; ends by _exit
 *     child               the same in the child of a fork
 *     copy                a copy of the process made by raw clone has a filter that kills on rt_sigaction, and gets
 *                         SIGTERM
 *     strict-copy         such a copy goes into strict mode and calls many functions
 *     mask HOW            changes masks behind a filter of rt_sigprocmask that kills, traps, or reports success
 *     set HOW             the same by sigset
 *     refused             a thread without the right to install filters tries to install one; ends by SIGTERM
 *     invalid             tries to install an invalid filter; ends by SIGTERM
 *     probes              tries a hundred times to install impossible filters, and says whether memory was used up
 *     control             a filter that kills on rt_sigreturn; stops and restarts profiling, and works
 *     busy                the same filter; works
 *     fault, dump         the same filter; writes to address 0, or sends itself SIGUSR1
 *     ask                 the same filter; queries signal 60
 *     dumped              writes the profile, and goes into strict mode
 *     plain, strict       without a filter, or in strict mode
 *     many                forty different filters, the last of which kills on getpid, and forty equal filters
 *     through NUMBER PROGRAM WORD...   a filter that kills on that call, then executes the program
 *     outside             calls a shared object
 *     limit               may make files of 16 MiB and goes into strict mode; a message is due at the end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define TEN(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4) X(p##5) X(p##6) X(p##7) X(p##8) X(p##9)
#define HUNDRED(X) TEN(X, f0) TEN(X, f1) TEN(X, f2) TEN(X, f3) TEN(X, f4) TEN(X, f5) TEN(X, f6) TEN(X, f7) TEN(X, f8) TEN(X, f9)
#define DEFINE(name) __attribute__((noinline)) void name(void) { counted(); }
#define CALL(name) name();

__attribute__((weak)) void gmon_dump(void);
__attribute__((weak)) void moncontrol(int);
#ifdef HAS_PLUG
int serve(int times, int samples, int (*back)(int));
#endif

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }
HUNDRED(DEFINE)
QUIET static void many(void) {
    HUNDRED(CALL) HUNDRED(CALL) HUNDRED(CALL) HUNDRED(CALL) HUNDRED(CALL) HUNDRED(CALL) HUNDRED(CALL) HUNDRED(CALL)
}

QUIET static int install(struct sock_filter *steps, unsigned short length) {
    struct sock_fprog filter = {length, steps};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Makes one call answer with an action. */
QUIET static int forbid(unsigned number, unsigned action) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(steps, 4);
}

QUIET static void must_forbid(unsigned number, unsigned action) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || forbid(number, action) != 0)
        exit(77);
}

QUIET static void be_strict(void) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        exit(77);
}

QUIET static void answer(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
#ifdef __x86_64__
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 0;
#elif defined(__aarch64__)
    ((ucontext_t *)context)->uc_mcontext.regs[0] = 0;
#endif
    (void)!write(1, "answered\n", 9);
}

QUIET static void watch(const char *how) {
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    must_forbid(SYS_rt_sigprocmask, strcmp(how, "kill") == 0   ? SECCOMP_RET_KILL_PROCESS
                                    : strcmp(how, "trap") == 0 ? SECCOMP_RET_TRAP
                                                               : SECCOMP_RET_ERRNO);
}

/* Kilobytes of address space. */
QUIET static long mapped(void) {
    char line[256];
    long size = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmSize: %ld", &size);
    if (status)
        fclose(status);
    return size;
}

QUIET static void probes(void) {
    struct sock_fprog nothing = {1, NULL};
    struct stat status;
    long before = mapped();
    for (int i = 0; i < 100; i++)
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nothing) != -1)
            exit(90);
    printf("used %d\n", mapped() - before > 10000);
    printf("file %d\n", stat("gmon.out", &status) == 0 && status.st_size > 10000000);
}

QUIET static void refused(int is_none) {
    struct sock_filter none[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct stat status;
    if (is_none) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || install(none, 1) != -1)
            exit(91);
    } else if ((getuid() == 0 && setresuid(65534, 65534, 65534) != 0) || forbid(SYS_rt_sigreturn, SECCOMP_RET_KILL_PROCESS) != -1)
        exit(77);
    printf("error %d", errno);
    if (!is_none)
        printf(" written %d", stat("gmon.out", &status) == 0 && status.st_size > 0);
    printf("\ncalls counted 1\n");
    fflush(stdout);
    raise(SIGTERM);
}

QUIET static void work(void) {
    struct timespec now;
    do {
        many();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 600000000);
}

QUIET static void ask(void) {
    struct sigaction found;
    char line[256];
    unsigned long ignored = 0;
    printf("%d ", sigaction(60, NULL, &found) == 0 && found.sa_handler == SIG_DFL);
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "SigIgn: %lx", &ignored);
    printf("%d\n", (int)(ignored >> 59 & 1));
}

QUIET static void many_filters(void) {
    for (int i = 0; i < 80; i++)
        must_forbid(i == 39 ? SYS_getpid : i < 40 ? 1000 + i : 1000, SECCOMP_RET_KILL_PROCESS);
}

QUIET static void in_child(int is_copy, const char *what) {
    int status = 0;
    pid_t child = is_copy ? syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();
    if (child == 0) {
        if (strcmp(what, "strict-copy") == 0) {
            be_strict();
            many();
            syscall(SYS_exit, 5);
        } else if (is_copy) {
            must_forbid(SYS_rt_sigaction, SECCOMP_RET_KILL_PROCESS);
            raise(SIGTERM);
        }
        must_forbid(SYS_getpid, SECCOMP_RET_KILL_PROCESS);
        _exit(5);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(98);
    printf("child %#x\n", status);
}

QUIET static void end_strict(void) {
    fflush(stdout);
    be_strict();
    many();
    syscall(SYS_exit, 3);
}

#ifdef HAS_PLUG
QUIET static int back(int number) { return number; }
#endif

QUIET int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
    sigset_t set, before;
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    counted();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    if (strcmp(what, "exit") == 0) {
        must_forbid(SYS_getpid, SECCOMP_RET_KILL_PROCESS);
        _exit(4);
    } else if (strcmp(what, "child") == 0)
        in_child(0, what);
    else if (strstr(what, "copy"))
        in_child(1, what);
    else if (strcmp(what, "mask") == 0) {
        watch(how);
        printf("%d\n", sigprocmask(SIG_BLOCK, &set, &before));
        printf("%d\n", pthread_sigmask(SIG_BLOCK, &set, &before));
    } else if (strcmp(what, "set") == 0) {
        watch(how);
        printf("%d\n", sigset(SIGUSR2, SIG_DFL) == SIG_ERR);
    } else if (strcmp(what, "refused") == 0 || strcmp(what, "invalid") == 0)
        refused(*what == 'i');
    else if (strcmp(what, "probes") == 0)
        probes();
    else if (strcmp(what, "control") == 0 || strcmp(what, "busy") == 0 || strcmp(what, "fault") == 0 || strcmp(what, "dump") == 0 || strcmp(what, "ask") == 0) {
        must_forbid(SYS_rt_sigreturn, SECCOMP_RET_KILL_PROCESS);
        if (*what == 'c' || *what == 'b') {
            if (*what == 'c' && moncontrol) {
                moncontrol(0);
                moncontrol(1);
            }
            work();
        } else if (*what == 'f')
            *(volatile int *)NULL = 1;
        else if (*what == 'd')
            raise(SIGUSR1);
        else
            ask();
    } else if (strcmp(what, "dumped") == 0) {
        many();
        if (gmon_dump)
            gmon_dump();
        printf("calls counted %d\narc f55 counted %d\n", 1 + 2 * 800, 2 * 8);
        end_strict();
    } else if (strcmp(what, "strict") == 0)
        end_strict();
    else if (strcmp(what, "many") == 0)
        many_filters();
    else if (strcmp(what, "through") == 0) {
        must_forbid(atoi(how), SECCOMP_RET_KILL_PROCESS);
        execv(argv[3], argv + 3);
        return 99;
    }
#ifdef HAS_PLUG
    else if (strcmp(what, "outside") == 0)
        serve(3, 0, back);
    else if (strcmp(what, "limit") == 0) {
        struct rlimit limit = {16 << 20, 16 << 20};
        serve(3, 0, back);
        setrlimit(RLIMIT_FSIZE, &limit);
        end_strict();
    }
#endif
    many();
    return 3;
}
