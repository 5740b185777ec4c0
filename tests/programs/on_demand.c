/* Calls that are counted on demand: on_demand MODE [NUMBER [THREADS]]. The program knows the calls of each function
   while the calls are counted, and prints them.

   exact     threads call functions in each interval, and the same functions between the intervals
   switches  the main thread switches NUMBER times, while threads call, fork, open and close an object, and get
             signals in functions with room at their entries
   children  a child that is forked in an interval, and one that is forked before an interval
   steps     a sample at each instruction of a function whose calls are counted, and of the code that counts
   list      calls functions once each, in an interval for each of the lists of functions in the other arguments
   plainly   calls functions, and asks for nothing
   samples   samples in and between the intervals of two lists
   less      switches off a part of what is counted, and then the rest
   keeps     a caller that keeps values in registers across calls of a function with room
   misled    threads switch between two lists while others fork and fail to open an object
   toggle    sends itself the signal of GMON_CALLS_SIGNAL

   With OBJECT, this file is the object that is opened and closed. */
#ifdef OBJECT

#ifdef BROKEN
int missing(void);
int needs(void) { return missing(); }
#endif
__attribute__((noinline)) int helper(int number) { return 2 * number; }
int serve(int number) { return helper(number) + 1; }

#else

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gmon.h"
#include "sample.h"

/* A function without room at its entry. */
#define OTHER __attribute__((patchable_function_entry(0, 0)))
#define ROOM __attribute__((noinline, noclone, noipa))

static volatile long sink;

ROOM void leaf(void) { sink++; }
ROOM void branch(int times)
{
    while (times-- > 0)
        leaf();
}
ROOM void inside(void) { sink++; }
ROOM void outside(void) { sink++; }
ROOM void handled(void) { sink++; }
ROOM static void parse_one(void) { sink++; }
ROOM static void parse_two(void) { sink++; }

OTHER static void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

enum { MOST_THREADS = 8, TURNS = 1000, INTERVALS = 20 };

static pthread_barrier_t barrier;
static int threads = MOST_THREADS;

OTHER static void *work(void *number)
{
    for (int interval = 0; interval < INTERVALS; interval++) {
        pthread_barrier_wait(&barrier); /* on */
        branch(TURNS + *(int *)number);
        pthread_barrier_wait(&barrier); /* off */
        pthread_barrier_wait(&barrier);
        branch(TURNS);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

OTHER static int exact(void)
{
    pthread_t ids[MOST_THREADS];
    int numbers[MOST_THREADS];
    long branches = 0, leaves = 0;
    pthread_barrier_init(&barrier, NULL, threads + 1);
    for (int number = 0; number < threads; number++) {
        numbers[number] = number;
        check(pthread_create(&ids[number], NULL, work, &numbers[number]), "pthread_create");
        branches += INTERVALS;
        leaves += INTERVALS * (TURNS + number);
    }
    for (int interval = 0; interval < INTERVALS; interval++) {
        check(gmon_calls(1, NULL), "on");
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        check(gmon_calls(0, NULL), "off");
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    for (int number = 0; number < threads; number++)
        pthread_join(ids[number], NULL);
    printf("calls branch %ld\ncalls leaf %ld\narc branch leaf %ld\n", branches, leaves, leaves);
    return 0;
}

static atomic_int is_over;
static atomic_long called, handled_times;

OTHER static void *call_all_the_time(void *unused)
{
    long times = 0;
    while (!is_over) {
        branch(50);
        times += 50;
    }
    called += times;
    return unused;
}

OTHER static void *open_and_close(void *unused)
{
    while (!is_over) {
        void *object = dlopen("./object.so", RTLD_NOW);
        check(!object, "dlopen");
        int (*serve)(int) = (int (*)(int))dlsym(object, "serve");
        for (int times = 0; times < 20; times++)
            serve(times);
        dlclose(object);
    }
    return unused;
}

OTHER static void *fork_again_and_again(void *unused)
{
    while (!is_over) {
        pid_t child = fork();
        if (child == 0) {
            branch(100);
            _exit(0);
        }
        int status;
        check(waitpid(child, &status, 0) != child || status != 0, "child");
        usleep(100);
    }
    return unused;
}

OTHER static void on_signal(int signal)
{
    (void)signal;
    handled();
    handled_times++;
}

OTHER static int switches(int times)
{
    pthread_t ids[MOST_THREADS + 2];
    int number = 0;
    signal(SIGUSR1, on_signal);
    for (; number < threads; number++)
        check(pthread_create(&ids[number], NULL, call_all_the_time, NULL), "pthread_create");
    check(pthread_create(&ids[number++], NULL, open_and_close, NULL), "pthread_create");
    check(pthread_create(&ids[number++], NULL, fork_again_and_again, NULL), "pthread_create");
    for (int time = 0; time < times; time++) {
        outside();
        check(gmon_calls(1, NULL), "on");
        inside();
        inside();
        pthread_kill(ids[time % threads], SIGUSR1);
        check(gmon_calls(0, NULL), "off");
        outside();
    }
    is_over = 1;
    while (number > 0)
        pthread_join(ids[--number], NULL);
    printf("calls inside %d\ncalls outside 0\nmost leaf %ld\nmost handled %ld\n", 2 * times, called, handled_times);
    return 0;
}

OTHER static void in_child(void (*code)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        code();
        exit(0);
    }
    int status;
    check(waitpid(child, &status, 0) != child || status != 0, "child");
}

OTHER static void child_in_interval(void)
{
    branch(7);
    gmon_calls(0, NULL);
    branch(100);
}

OTHER static void child_before_interval(void)
{
    branch(100);
    gmon_calls(1, "branch");
    branch(3);
}

OTHER static int children(void)
{
    in_child(child_before_interval);
    gmon_calls(1, NULL);
    branch(5);
    in_child(child_in_interval);
    branch(6);
    gmon_calls(0, NULL);
    return 0;
}

#ifdef __x86_64__
static volatile long instructions;

/* The kernel delivers the sampling signal at the return from this handler, so the sample is of the interrupted
   instruction. */
OTHER static void on_step(int signal)
{
    (void)signal;
    instructions++;
    SAMPLES(1);
}

OTHER static int steps(void)
{
    struct sigaction action = {.sa_handler = on_step};
    sigfillset(&action.sa_mask);
    sigaction(SIGTRAP, &action, NULL);
    gmon_calls(1, NULL);
    /* The first call of each arc takes the slow path. */
    __asm__ volatile("pushf; orq $0x100, (%%rsp); popf" ::: "memory", "cc");
    branch(3);
    __asm__ volatile("pushf; andq $~0x100, (%%rsp); popf" ::: "memory", "cc");
    gmon_calls(0, NULL);
    printf("%ld\n", instructions);
    return 0;
}
#else
OTHER static int steps(void) { return 2; }
#endif

OTHER static int list(char **lists)
{
    for (; *lists; lists++) {
        check(gmon_calls(1, *lists), *lists);
        branch(2);
        parse_one();
        parse_two();
        check(gmon_calls(0, NULL), "off");
    }
    return 0;
}

/* Calls each function once for each weight, so that the counts say in which intervals a function was counted. */
OTHER static void all_of(int times)
{
    while (times-- > 0) {
        leaf();
        inside();
        parse_one();
        parse_two();
    }
}

OTHER static int less(void)
{
    check(gmon_calls(1, "leaf,inside,parse_*"), "on");
    all_of(1);
    check(gmon_calls(0, "parse_*"), "off");
    all_of(10);
    check(gmon_calls(0, "!leaf"), "off");
    all_of(100);
    for (int time = 0; time < 50; time++)
        check(gmon_calls(0, "outside"), "off");
    all_of(1000);
    check(gmon_calls(0, "leaf"), "off");
    all_of(10000);
    check(gmon_calls(1, NULL), "on");
    all_of(3);
    check(gmon_calls(1, "parse_one"), "on");
    all_of(30);
    check(gmon_calls(0, NULL), "off");
    all_of(10000);
    puts("calls leaf 1114\ncalls inside 14\ncalls parse_one 34\ncalls parse_two 4");
    return 0;
}

/* A compiler that knows which registers a function changes may keep values in all other registers across the call. gcc
   does so for functions that have room by the attribute instead of the option. */
#if defined __x86_64__ && !defined PLAIN
#define ATTRIBUTE patchable_function_entry(7, 5),
#else
#define ATTRIBUTE
#endif
__attribute__((ATTRIBUTE used, noinline, noclone)) static int known(int value)
{
    __asm__ volatile("" : "+r"(value));
    return value ^ 5;
}

#ifdef __x86_64__
/* Calls `known` with a number of its own in each register that a caller does not have to save. The result has a bit for
   each of them that has changed; rax has the function's result. The red zone of this function is left alone. */
OTHER static long changed_registers(void)
{
    long changed;
    __asm__ volatile("lea -128(%%rsp), %%rsp\n"
                     "mov $0x101, %%ecx; mov $0x202, %%edx; mov $0x303, %%esi; mov $0x404, %%edi\n"
                     "mov $0x505, %%r8d; mov $0x606, %%r9d; mov $0x707, %%r10d; mov $0x808, %%r11d\n"
                     "call known\n"
                     "lea 128(%%rsp), %%rsp\n"
                     "xor $0x101, %%rcx; xor $0x202, %%rdx; xor $0x303, %%rsi; xor $0x404, %%rdi\n"
                     "xor $0x505, %%r8; xor $0x606, %%r9; xor $0x707, %%r10; xor $0x808, %%r11\n"
                     "or %%rdx, %%rcx; or %%rsi, %%rcx; or %%r8, %%rcx; or %%r9, %%rcx\n"
                     "or %%r10, %%rcx; or %%r11, %%rcx; xor $0x401, %%rax; or %%rax, %%rcx\n"
                     : "=c"(changed)
                     :
                     : "rax", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    return changed;
}
#else
OTHER static long changed_registers(void) { return known(4) != 1; }
#endif

OTHER static int keeps(void)
{
    enum { CALLS = 1000 };
    long changed = changed_registers();
    check(changed != 0, "before");
    check(gmon_calls(1, NULL), "on");
    for (int call = 0; call < CALLS; call++)
        changed |= changed_registers();
    check(gmon_calls(0, NULL), "off");
    printf("calls known %d\n", CALLS);
    return changed != 0;
}

OTHER static void *fail_to_open(void *unused)
{
    while (!is_over)
        check(dlopen("./broken.so", RTLD_NOW) != NULL, "broken.so");
    return unused;
}

OTHER static void *fork_and_count(void *unused)
{
    while (!is_over) {
        pid_t child = fork();
        if (child == 0) {
            branch(1);
            exit(0);
        }
        int status;
        check(waitpid(child, &status, 0) != child || status != 0, "child");
    }
    return unused;
}

OTHER static int misled(int times)
{
    pthread_t ids[2];
    check(gmon_calls(1, "branch"), "on");
    check(pthread_create(&ids[0], NULL, fail_to_open, NULL), "pthread_create");
    check(pthread_create(&ids[1], NULL, fork_and_count, NULL), "pthread_create");
    for (int time = 0; time < times; time++) {
        check(gmon_calls(1, "branch,leaf"), "on");
        branch(1);
        check(gmon_calls(1, "branch"), "on");
        branch(1);
    }
    is_over = 1;
    pthread_join(ids[0], NULL);
    pthread_join(ids[1], NULL);
    printf("calls branch %d\ncalls leaf %d\n", 2 * times, times);
    return 0;
}

OTHER static int samples(void)
{
    SAMPLES(7);
    check(gmon_calls(1, "parse_*"), "on");
    SAMPLES(5);
    check(gmon_calls(0, NULL), "off");
    SAMPLES(2);
    check(gmon_calls(1, NULL), "on");
    check(gmon_calls(1, "parse_*"), "on");
    SAMPLES(3);
    check(gmon_calls(0, NULL), "off");
    return 0;
}

OTHER static int toggle(void)
{
    leaf();
    raise(SIGUSR2);
    branch(3);
    raise(SIGUSR2);
    leaf();
    raise(SIGUSR2);
    leaf();
    puts("calls branch 1\ncalls leaf 4\narc branch leaf 3\narc main leaf 1");
    return 0;
}

OTHER int main(int count, char **words)
{
    const char *mode = count > 1 ? words[1] : "";
    int number = count > 2 ? atoi(words[2]) : 0;
    if (count > 3)
        threads = atoi(words[3]);
    if (!strcmp(mode, "exact"))
        return exact();
    if (!strcmp(mode, "switches"))
        return switches(number);
    if (!strcmp(mode, "children"))
        return children();
    if (!strcmp(mode, "steps"))
        return steps();
    if (!strcmp(mode, "plainly")) {
        branch(2);
        parse_one();
        parse_two();
        return 0;
    }
    if (!strcmp(mode, "less"))
        return less();
    if (!strcmp(mode, "keeps"))
        return keeps();
    if (!strcmp(mode, "misled"))
        return misled(number);
    if (!strcmp(mode, "samples"))
        return samples();
    if (!strcmp(mode, "list"))
        return list(words + 2);
    return toggle();
}

#endif
