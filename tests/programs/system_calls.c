/* Runs a program and prints how many system calls the program makes outside of signal handlers, and how many signals it
 * gets. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* A stop at a system call, with PTRACE_O_TRACESYSGOOD. */
enum { AT_CALL = SIGTRAP | 0x80 };

static void fail(const char *what)
{
    perror(what);
    exit(98);
}

int main(int argc, char **argv)
{
    int status, calls = 0, signals = 0, in_handler = 0, pass = 0;
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
            fail("ptrace");
        raise(SIGSTOP);
        execv(argv[argc - 1], argv + argc - 1);
        fail(argv[argc - 1]);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail("the child");
    if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC) != 0)
        fail("ptrace");
    for (int runs = 0;;) {
        if (ptrace(PTRACE_SYSCALL, child, 0, pass) != 0 || waitpid(child, &status, 0) != child)
            fail("the program");
        pass = 0;
        if (!WIFSTOPPED(status))
            break;
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
            runs = 1;
        } else if (WSTOPSIG(status) == AT_CALL) {
            struct __ptrace_syscall_info call;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call) <= 0)
                fail("ptrace");
            if (!runs || call.op != PTRACE_SYSCALL_INFO_ENTRY)
                continue;
            calls += !in_handler;
            in_handler = in_handler && call.entry.nr != SYS_rt_sigreturn;
        } else {
            pass = WSTOPSIG(status);
            signals++;
            in_handler = 1;
        }
    }
    if (!WIFEXITED(status))
        fail("the program's end");
    printf("%d %d\n", calls, signals);
    return WEXITSTATUS(status);
}
