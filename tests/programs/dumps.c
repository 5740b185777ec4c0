/*
 * Writes its profile while it runs.
 *
 *     dumps call          gmon_dump after 3 calls of `counted`; then 2 more calls, and an end without writing
 *     dumps signal N      the same with signal N, sent to itself
 *     dumps storm         threads that call, dump, and turn profiling off and on, all at once
 *     dumps off           the same, but off at the end
 *     dumps wait          3 calls, then prints `ready`; continues when it reads input
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gmon.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }
__attribute__((noinline)) void stormy(void) { __asm__ volatile(""); }
__attribute__((noinline)) void after(void) { __asm__ volatile(""); }

static void call(int times) {
    while (times-- > 0)
        counted();
}

enum { ROUNDS = 300 };
static volatile int mode;

static void on_signal(int signal) {
    (void)signal;
    moncontrol(mode = !mode);
}
static void *calls(void *unused) {
    for (int i = 0; i < ROUNDS * 100; i++)
        stormy();
    return unused;
}
static void *switches(void *unused) {
    for (int i = 0; i < ROUNDS * 10; i++) {
        moncontrol(i % 2);
        if (i % 10 == 0)
            raise(SIGUSR2);
    }
    return unused;
}
static void *dumps(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        gmon_dump();
    return unused;
}

static void storm(int on) {
    void *(*const all[])(void *) = {calls, calls, switches, switches, switches, dumps, dumps};
    enum { THREADS = sizeof all / sizeof *all };
    pthread_t threads[THREADS];
    signal(SIGUSR2, on_signal);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, all[i], NULL) != 0)
            exit(99);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    moncontrol(on);
    for (int i = 0; i < 1000; i++)
        after();
    printf("calls after %d\n", on ? 1000 : 0);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    char byte;
    if (strcmp(what, "storm") == 0 || strcmp(what, "off") == 0) {
        storm(strcmp(what, "storm") == 0);
        return 0;
    }
    call(3);
    if (strcmp(what, "call") == 0)
        gmon_dump();
    else if (strcmp(what, "signal") == 0)
        raise(argc > 2 ? atoi(argv[2]) : SIGUSR1);
    else if (strcmp(what, "wait") == 0) {
        printf("ready\n");
        fflush(stdout);
        if (read(0, &byte, 1) != 1)
            return 98;
    }
    call(2);
    printf("calls counted 5\n");
    fflush(stdout);
    if (strcmp(what, "wait") != 0)
        syscall(SYS_exit_group, 0);
    return 0;
}
