/* Runs a program under ptrace and passes on all its signals. Prints the kernel's information on the last signal, and
   whether the program stood where it stood when that signal first came: what a core dump would contain. */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
    unsigned long long counter, stack;
};

static struct place place(pid_t child) {
    struct user_regs_struct registers;
    struct iovec room = {&registers, sizeof registers};
    ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &room);
#if defined(__x86_64__)
    return (struct place){registers.rip, registers.rsp};
#else
    return (struct place){registers.pc, registers.sp};
#endif
}

int main(int argc, char **argv) {
    pid_t child = argc > 1 ? fork() : -1;
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    siginfo_t told;
    struct place first = {0, 0}, last = {0, 0};
    int status, stops = 0;
    memset(&told, 0, sizeof told);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status);
        if (stops++ == 0) { /* the program begins */
            ptrace(PTRACE_CONT, child, NULL, NULL);
            continue;
        }
        last = place(child);
        if (signal != told.si_signo) /* samples may come first */
            first = last;
        ptrace(PTRACE_GETSIGINFO, child, NULL, &told);
        ptrace(PTRACE_CONT, child, NULL, (void *)(long)signal);
    }
    printf("status %#x, signal %d, code %d, ", status, told.si_signo, told.si_code);
    if (told.si_code > 0)
        printf("address %p", told.si_signo == SIGBUS ? NULL : told.si_addr);
    else
        printf("sender %s, value %d", told.si_pid == child ? "itself" : "another", told.si_code == SI_QUEUE ? told.si_int : 0);
    printf(", %s\n", memcmp(&first, &last, sizeof first) == 0 ? "at the same place" : "elsewhere");
    return 0;
}
