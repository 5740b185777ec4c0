/* Defines a function with the C library's name, as some libraries between programs and signals do: the program then
   sees the kernel's setting of a signal. Prints the signals whose setting is a handler. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

int sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
    unsigned long found[4] = {0, 0, 0, 0};
    long result = syscall(SYS_rt_sigaction, signal, NULL, found, 8);
    (void)action;
    if (before != NULL) {
        memset(before, 0, sizeof *before);
        before->sa_handler = (void (*)(int))found[0];
    }
    return (int)result;
}

int main(void) {
    counted();
    for (int signal = 1; signal < 32; signal++) {
        struct sigaction found;
        if (sigaction(signal, NULL, &found) == 0 && found.sa_handler != SIG_DFL && found.sa_handler != SIG_IGN)
            printf("%d ", signal);
    }
    puts("");
    fflush(stdout);
    kill(getpid(), SIGTERM);
    return 3;
}
