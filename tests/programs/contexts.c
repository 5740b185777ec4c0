/*
 * Samples itself in calling contexts that the test knows. Each sample is in `spin`:
 *
 *     chain             30 below main -> dear, 5 below main -> cheap
 *     recursion DEPTH   10 below DEPTH calls of `descend`, and 3 in it on the way back
 *     paths SAMPLES     SAMPLES below 2,000 calls of `left` and `right`, each time in another order
 *     irregular LEVELS SAMPLES   SAMPLES below main -> outer_caller -> enters -> LEVELS calls of `first`, `second` and
 *                                `third` in any order,
 *                       with frames of many sizes, and as many half way back; then the same below main -> again ->
 *                       enters, in `dear`
 *     library           10 below main -> sorted -> qsort -> compare
 *     threads           10 below `worker` in each of four threads, in threads with stacks of 16 KB
 *     fork              3 in the parent below `parent`, 7 in the child below `child`
 *     exec              nothing: the program executes itself with `chain`, after 2 below `before`
 *     handler           10 below `on_signal`, on an alternate stack of the smallest size, while `raises` runs
 *     coroutine         10 below `coroutine`, on a stack of malloc
 *     busy              uses half a second of CPU time or more in `burn`, below `busy`
 *     dump              30 below `dear`, a snapshot, 5 below `cheap`
 *     stopped           4 below `dear`, 9 while profiling is stopped, 5 below `cheap`
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <gmon.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "looks.h"
#include "sample.h"

FUNCTION void spin(int times) {
    SAMPLES(times);
    STAYS;
}

FUNCTION void dear(int times) { spin(times); STAYS; }
FUNCTION void cheap(int times) { spin(times); STAYS; }
FUNCTION void parent(int times) { spin(times); STAYS; }
FUNCTION void child(int times) { spin(times); STAYS; }
FUNCTION void before(int times) { spin(times); STAYS; }
FUNCTION void raises(int signal) { raise(signal); STAYS; }
FUNCTION void on_signal(int signal) { (void)signal; spin(10); STAYS; }

FUNCTION void descend(int depth) {
    if (depth > 1)
        descend(depth - 1);
    else
        spin(10);
    if (depth == 4)
        spin(3);
    STAYS;
}

static unsigned random_state = 1;
FUNCTION void left(int depth);
FUNCTION void right(int depth);
static inline __attribute__((always_inline)) void either(int depth) {
    random_state = random_state * 1103515245 + 12345;
    if (depth == 0)
        spin(1);
    else if (random_state >> 16 & 1)
        left(depth - 1);
    else
        right(depth - 1);
}
FUNCTION void left(int depth) { either(depth); STAYS; }
FUNCTION void right(int depth) { either(depth); STAYS; }

static int samples, levels, is_again;
FUNCTION void first(int depth);
FUNCTION void second(int depth);
FUNCTION void third(int depth);
FUNCTION void take(void) {
    if (is_again)
        dear(samples);
    else
        spin(samples);
    STAYS;
}
static inline __attribute__((always_inline)) void any(int depth) {
    random_state = random_state * 1103515245 + 12345;
    unsigned which = random_state >> 16 & 3;
    if (depth == 0)
        take();
    else if (which == 0)
        first(depth - 1);
    else if (which == 1)
        second(depth - 1);
    else
        third(depth - 1);
    if (depth == levels / 2)
        take();
}
FUNCTION void first(int depth) { any(depth); STAYS; }
FUNCTION void second(int depth) {
    volatile char room[72];
    room[0] = 0;
    any(depth);
    STAYS;
}
FUNCTION void third(int depth) {
    volatile char *room = alloca(16 + random_state / 65536 % 5 * 16);
    room[0] = 0;
    any(depth);
    STAYS;
}
FUNCTION void enters(void) { any(levels); STAYS; }
FUNCTION void outer_caller(void) { enters(); STAYS; }
FUNCTION void again(void) { enters(); STAYS; }

/* The main thread gets a large stack when the program is executed. */
static void irregular(char **argv) {
    struct rlimit limit = {1 << 30, 1 << 30}, now;
    levels = atoi(argv[2]);
    samples = atoi(argv[3]);
    if (getrlimit(RLIMIT_STACK, &now) != 0)
        exit(99);
    limit.rlim_max = now.rlim_max;
    if (levels > 10000 && now.rlim_cur < limit.rlim_cur) {
        if (setrlimit(RLIMIT_STACK, &limit) != 0)
            exit(77);
        execv(argv[0], argv);
        exit(99);
    }
    outer_caller();
    is_again = 1;
    again();
}

FUNCTION int compare(const void *a, const void *b) {
    spin(samples);
    samples = 0;
    return *(const int *)a - *(const int *)b;
}
FUNCTION void sorted(void) {
    int numbers[] = {3, 2, 1};
    samples = 10;
    qsort(numbers, 3, sizeof *numbers, compare);
    STAYS;
}

FUNCTION void *worker(void *name) {
    pthread_setname_np(pthread_self(), name);
    spin(10);
    return NULL;
}
static void threads(void) {
    static char names[][8] = {"first", "second", "third", "fourth"};
    pthread_t started[4];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16 << 10);
    for (int number = 0; number < 4; number++)
        if (pthread_create(&started[number], &attributes, worker, names[number]) != 0)
            exit(99);
    for (int number = 0; number < 4; number++)
        pthread_join(started[number], NULL);
}

static void handler(void) {
    long smallest = sysconf(_SC_MINSIGSTKSZ);
    stack_t stack = {.ss_size = 2 * (smallest > 2048 ? smallest : 2048) + 1024}; /* two frames of signals, and their handlers */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raises(SIGUSR1);
}

FUNCTION void burn(void) {
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    begin_looks(24);
    while (needs_looks() || clock() < end)
        for (volatile int turn = 0; turn < 100000; turn++) {
        }
}
FUNCTION void busy(void) { burn(); STAYS; }

static ucontext_t outer, inner;
FUNCTION void coroutine(void) {
    spin(5);
    swapcontext(&inner, &outer);
    spin(5);
    STAYS;
}
FUNCTION void resume(void) { swapcontext(&outer, &inner); STAYS; }
static void coroutines(void) {
    getcontext(&inner);
    inner.uc_stack.ss_size = 32 << 10;
    inner.uc_stack.ss_sp = malloc(inner.uc_stack.ss_size);
    inner.uc_link = &outer;
    makecontext(&inner, coroutine, 0);
    resume();
    resume();
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "chain";
    int status = 0;
    if (strcmp(what, "chain") == 0) {
        dear(30);
        cheap(5);
    } else if (strcmp(what, "recursion") == 0) {
        descend(atoi(argv[2]));
    } else if (strcmp(what, "paths") == 0) {
        for (int turns = atoi(argv[2]); turns > 0; turns--)
            either(2000);
    } else if (strcmp(what, "irregular") == 0) {
        irregular(argv);
    } else if (strcmp(what, "library") == 0) {
        sorted();
    } else if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "fork") == 0) {
        parent(2);
        pid_t process = fork();
        if (process == 0) {
            child(7);
            return 0;
        }
        parent(1);
        return waitpid(process, &status, 0) == -1 || status != 0;
    } else if (strcmp(what, "exec") == 0) {
        before(2);
        execl(argv[0], argv[0], "chain", (char *)NULL);
        return 99;
    } else if (strcmp(what, "handler") == 0) {
        handler();
    } else if (strcmp(what, "coroutine") == 0) {
        coroutines();
    } else if (strcmp(what, "busy") == 0) {
        busy();
    } else if (strcmp(what, "dump") == 0) {
        dear(30);
        gmon_dump();
        if (argc > 2) /* the snapshot is all that is left */
            raise(SIGKILL);
        cheap(5);
    } else if (strcmp(what, "stopped") == 0) {
        dear(4);
        moncontrol(0);
        dear(9);
        moncontrol(1);
        cheap(5);
    } else {
        return 99;
    }
    return 0;
}
