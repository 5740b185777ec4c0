/*
 * Children of all kinds. Each process prints its own calls. A child has its own profile and leaves its parent's
 * alone.
 *
 *     forks [CHILDREN]
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "looks.h"

extern char **environ;

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }
__attribute__((noinline)) void burned(void) {
    for (int i = 0; i < 100000; i++)
        __asm__ volatile("");
}

static void child(int number) {
    struct timespec now;
    for (int i = 0; i < 100 + number; i++)
        counted();
    begin_looks(24);
    do {
        burned();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (needs_looks() || (now.tv_sec == 0 && now.tv_nsec < 600000000));
    exit(0);
}

static int wait_for(pid_t pid) {
    int status;
    return waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv) {
    int children = argc > 1 ? atoi(argv[1]) : 3;
    char *const arguments[] = {"true", NULL};
    pid_t pid;
    volatile int shared = 0; /* an emulator may make a fork of a vfork */
    counted();
    for (int i = 0; i < children; i++) {
        fflush(stdout);
        pid = fork();
        if (pid == 0)
            child(i);
        printf("child %d calls counted %d\n", (int)pid, 100 + i);
        if (!wait_for(pid))
            return 1;
    }
    counted();
    /* These share our memory until they become another program, so calls in between are ours. */
    pid = vfork();
    if (pid == 0) {
        counted();
        shared = 1;
        execvp("true", arguments);
        _exit(127);
    }
    if (!wait_for(pid))
        return 2;
    pid = vfork();
    if (pid == 0)
        _exit(0);
    if (!wait_for(pid) || posix_spawnp(&pid, "true", NULL, NULL, arguments, environ) != 0 || !wait_for(pid))
        return 3;
    if (system("true") != 0)
        return 4;
    fflush(stdout);
    /* This one becomes another program: it leaves nothing. */
    pid = fork();
    if (pid == 0) {
        counted();
        execvp("true", arguments);
        _exit(127);
    }
    if (!wait_for(pid))
        return 5;
    counted();
    printf("calls counted %d\n", 3 + shared);
    return 0;
}
