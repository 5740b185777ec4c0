/*
 * Corner cases for a runtime. Each prints its calls, or ends in a way of its own:
 *
 *     corners waits           a signal that is unblocked only during a wait
 *     corners small N         a signal on an alternate stack of N bytes, next to an inaccessible page
 *     corners thread          _exit in a thread with the smallest stack
 *     corners chains          a handler that calls the previous handler
 *     corners vfork           a thread whose first profiled call is made by the child of a vfork
 *     corners first N         a signal while a thread makes its first call, N times
 *     corners twice           two fatal signals, one soon after the other
 *     corners reused          the runtime's descriptor numbers now belong to the program's files; new tables
 *     corners forks N [US]    N forks in a signal handler that runs every US microseconds
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

QUIET static void waits(void) {
    sigset_t blocked, none;
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    kill(getpid(), SIGTERM);
    sigsuspend(&none);
}

QUIET static void small(size_t size) {
    char *memory = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory + 4096, .ss_size = size};
    if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) != 0 || sigaltstack(&stack, NULL) != 0)
        exit(99);
    counted();
    kill(getpid(), SIGTERM);
}

QUIET static void *exits(void *unused) {
    (void)unused;
    counted();
    _exit(3);
}

QUIET static void thread(void) {
    pthread_attr_t attributes;
    pthread_t id;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    if (pthread_create(&id, &attributes, exits, NULL) != 0)
        exit(99);
    for (;;)
        pause();
}

static void (*found)(int);
static char scratch[4096];
QUIET static void chain(int number) {
    memset(scratch, 0, sizeof scratch); /* the argument registers no longer hold their former values */
    if (found != SIG_DFL && found != SIG_IGN)
        found(number);
    else {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static volatile int go;
enum { ROUNDS = 20000000 };
QUIET static void loop(void) {
    for (int i = 0; i < ROUNDS; i++)
        counted();
}
QUIET static void *vforks(void *unused) {
    pid_t child = vfork();
    if (child == 0) {
        counted();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    go = 1;
    loop();
    return unused;
}

static volatile long handled;
QUIET static void on_alarm(int signal) {
    (void)signal;
    counted();
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED); /* two threads may run this at once */
}
QUIET static void *once(void *unused) {
    counted();
    return unused;
}
QUIET static void every(long nanoseconds) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec period = {{0, nanoseconds}, {0, nanoseconds}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &period, NULL) != 0)
        exit(99);
}
QUIET static void first(long threads, long microseconds) {
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    pthread_t id;
    sigset_t alarm;
    long before;
    sigaction(SIGALRM, &action, NULL);
    every(microseconds * 1000);
    for (long i = 0; i < threads; i++) {
        if (pthread_create(&id, NULL, once, NULL) != 0)
            exit(99);
        pthread_join(id, NULL);
    }
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    before = handled;
    printf("calls counted %ld\n", threads + before);
    fflush(stdout);
    exit(0);
}

static volatile pid_t children;
static long wanted_children;
QUIET static void on_fork(int number) {
    (void)number;
    pid_t child = fork();
    if (child == 0) {
        counted();
        raise(SIGKILL); /* the interrupted code has not gone on: no file */
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        _exit(98);
    children++;
    /* Where a fork takes longer than the time between two signals, only this handler runs. */
    if (children >= wanted_children)
        signal(SIGALRM, SIG_IGN);
}
QUIET static void forks(long number, long microseconds) {
    struct sigaction action = {.sa_handler = on_fork, .sa_flags = SA_RESTART};
    long calls = 0;
    wanted_children = number;
    sigaction(SIGALRM, &action, NULL);
    every(microseconds * 1000);
    while (children < number) {
        counted();
        calls++;
    }
    signal(SIGALRM, SIG_IGN);
    printf("calls counted %ld\n", calls);
}

/* Enough code that writing its profile takes a while. */
QUIET static void twice(void) {
    pid_t self = getpid();
    counted();
    if (fork() == 0) {
        kill(self, SIGTERM);
        usleep(1000);
        kill(self, SIGINT);
        syscall(SYS_exit_group, 0); /* no profile of this one */
    }
    for (;;)
        pause();
}

#define TEN(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4) X(p##5) X(p##6) X(p##7) X(p##8) X(p##9)
#define HUNDRED(X) TEN(X, f0) TEN(X, f1) TEN(X, f2) TEN(X, f3) TEN(X, f4) TEN(X, f5) TEN(X, f6) TEN(X, f7) TEN(X, f8) TEN(X, f9)
#define DEFINE(name) __attribute__((noinline)) void name(void) { __asm__ volatile(""); }
#define CALL(name) name();
HUNDRED(DEFINE)
QUIET static void reused(void) {
    struct stat status;
    long most = sysconf(_SC_OPEN_MAX);
    int limit = most < 65536 ? (int)most : 65536;
    for (int fd = 3; fd < limit; fd++)
        close(fd);
    int data = open("data", O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int fd = 4; fd < limit; fd++)
        dup2(data, fd);
    HUNDRED(CALL)
    if (write(data, "hello\n", 6) != 6 || fstat(data, &status) != 0 || status.st_size != 6)
        exit(97);
}

QUIET int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long number = argc > 2 ? atol(argv[2]) : 100;
    pthread_t id;
    if (strcmp(what, "waits") == 0)
        waits();
    else if (strcmp(what, "small") == 0)
        small(number);
    else if (strcmp(what, "thread") == 0)
        thread();
    else if (strcmp(what, "chains") == 0) {
        found = signal(SIGTERM, chain);
        raise(SIGTERM);
    } else if (strcmp(what, "vfork") == 0) {
        counted();
        if (pthread_create(&id, NULL, vforks, NULL) != 0)
            return 99;
        while (!go)
            ;
        loop();
        pthread_join(id, NULL);
        printf("calls counted %d\n", 2 * ROUNDS + 1); /* and the call by the child, which has no table */
        return 0;
    } else if (strcmp(what, "first") == 0)
        first(number, argc > 3 ? atol(argv[3]) : 20);
    else if (strcmp(what, "twice") == 0)
        twice();
    else if (strcmp(what, "reused") == 0) {
        reused();
        return 0;
    } else if (strcmp(what, "forks") == 0) {
        forks(number, argc > 3 ? atol(argv[3]) : 200);
        return 0;
    }
    return 7;
}
