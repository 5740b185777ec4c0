/* What gmon-run's program has of its surroundings: launched signals | descriptors | open | worker FUNCTION */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, OF_SAMPLER = 60 };

/* Prints each signal with its value until SIGTERM. The stop signals of terminals stop the program. */
static int print_signals(void) {
    sigset_t all;
    siginfo_t info;
    sigfillset(&all);
    sigdelset(&all, OF_SAMPLER);
    sigdelset(&all, SIGTSTP);
    sigdelset(&all, SIGTTIN);
    sigdelset(&all, SIGTTOU);
    sigprocmask(SIG_BLOCK, &all, NULL);
    printf("ready %d %d\n", (int)getppid(), (int)getpid());
    fflush(stdout);
    for (;;) {
        /* A stop interrupts the call. */
        if (sigwaitinfo(&all, &info) < 0)
            continue;
        printf("signal %d %d\n", info.si_signo, info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
        fflush(stdout);
        if (info.si_signo == SIGTERM)
            return 3;
    }
}

/* A bit for each standard descriptor that is open. */
static int descriptors(void) {
    int open = 0;
    for (int number = 0; number < 3; number++)
        open |= (fcntl(number, F_GETFD) >= 0) << number;
    return open;
}

/* Prints the numbers of the open descriptors. */
static int print_open(void) {
    for (int number = 0; number < 4096; number++)
        if (fcntl(number, F_GETFD) >= 0)
            printf("%d\n", number);
    return 0;
}

__attribute__((noinline)) static void work(void) {
    struct timespec used;
    do {
        for (volatile int i = 0; i < 20000; i++) {
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_sec == 0 && used.tv_nsec < 200000000);
}

/* A child that gives up its rights, as the workers of servers do, and works. */
static int worker(const char *function) {
    pid_t child = fork();
    if (!child) {
        int result = setgroups(0, NULL) || setgid(NOBODY);
        if (!strcmp(function, "setuid"))
            result |= setuid(NOBODY);
        if (!strcmp(function, "seteuid"))
            result |= seteuid(NOBODY);
        if (!strcmp(function, "setreuid"))
            result |= setreuid(NOBODY, NOBODY);
        if (!strcmp(function, "setresuid"))
            result |= setresuid(NOBODY, NOBODY, NOBODY);
        /* Programs whose threads have users of their own make the calls past the C library. */
        if (!strcmp(function, "SYS_setuid"))
            result |= syscall(SYS_setuid, NOBODY);
        if (!strcmp(function, "SYS_setreuid"))
            result |= syscall(SYS_setreuid, -1, NOBODY);
        if (!strcmp(function, "SYS_setresuid"))
            result |= syscall(SYS_setresuid, -1, NOBODY, -1);
        if (result || geteuid() != NOBODY)
            _exit(1);
        work();
        exit(5);
    }
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int main(int number, char **words) {
    const char *what = number > 1 ? words[1] : "";
    if (!strcmp(what, "signals"))
        return print_signals();
    if (!strcmp(what, "descriptors"))
        return descriptors();
    if (!strcmp(what, "open"))
        return print_open();
    if (!strcmp(what, "worker") && number > 2)
        return worker(words[2]);
    return 99;
}
