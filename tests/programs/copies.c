/*
 * Children with a copy of the memory that was made without the C library's `fork`: copies HOW, which is fork (`_Fork`),
 * clone (`clone` by its number), both with `exit` at the end, or vfork. The children call the shared object's function
 * and our own; their calls are counted nowhere.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int serve(int times, int samples, int (*back)(int));

__attribute__((noinline)) int counted(int number) { __asm__ volatile(""); return number; }

static void own(int times) {
    while (times-- > 0)
        counted(times);
    serve(10, 0, counted);
}

static pid_t copy(const char *how) {
#ifdef HAS_FORK
    if (strcmp(how, "fork") == 0)
        return _Fork();
#endif
    return syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int status;
    own(20);
    fflush(stdout);
    pid_t child = strcmp(how, "vfork") == 0 ? vfork() : copy(how);
    if (child == 0) {
        if (strcmp(how, "vfork") == 0)
            _exit(4);
        own(7);
        exit(4);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 4)
        return 99;
    own(20);
    printf("calls counted %d\narc serve counted 0\n", 2 * 30);
    return 0;
}
