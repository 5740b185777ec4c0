/*
 * Threads that know how often they call which function. Each prints "calls NAME FUNCTION COUNT" for its calls; sums are
 * the reader's.
 *
 *     named [dump]    four threads with names, one after the other and at once; with `dump`, a snapshot in the middle
 *     many N          N threads of three names, eight at a time; each sends itself a sample; prints sums by name, and
 *                     "sent NAME COUNT"
 *     rename          a thread that gets another name between its calls; a thread that gets another name after its last
 *                     call and does not end
 *     reuse N         N threads that get the same number from the kernel: prints "number NUMBER calls COUNT" for each,
 *                     and "child PROCESS". Exits with 77 if the machine does not permit that
 *     fork            a parent and a child: prints "child PROCESS"
 *     objects         threads that open and close ./plug0.so and ./plug1.so, which call back
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sample.h"

void gmon_dump(void);

static volatile long work_done;
FUNCTION void leaf(void) { work_done = 1; }
FUNCTION void alpha(void) { leaf(); leaf(); STAYS; }
FUNCTION void beta(void) { leaf(); STAYS; }

FUNCTION void own_sample(void) {
    SAMPLE(getpid(), syscall(SYS_gettid))
    if (sample_result != 0)
        abort();
}

struct plan {
    const char *name;
    long alphas, betas, samples;
    int prints;
};

static void say(const char *name, const char *function, long count) {
    char line[80];
    int length = snprintf(line, sizeof line, "calls %s %s %ld\n", name, function, count);
    if (write(1, line, length) != length)
        abort();
}

FUNCTION void *follow(void *argument) {
    const struct plan *plan = argument;
    pthread_setname_np(pthread_self(), plan->name);
    for (long i = 0; i < plan->alphas; i++)
        alpha();
    for (long i = 0; i < plan->betas; i++)
        beta();
    for (long i = 0; i < plan->samples; i++)
        own_sample();
    if (plan->prints) {
        say(plan->name, "alpha", plan->alphas);
        say(plan->name, "beta", plan->betas);
        say(plan->name, "leaf", 2 * plan->alphas + plan->betas);
    }
    return NULL;
}

static pthread_t begin(void *(*function)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0)
        exit(99);
    return thread;
}

static void named(int dumps) {
    static struct plan plans[] = {
        {"first", 1000, 0, 1, 1}, {"second", 7, 333, 1, 1}, {"third", 0, 1, 1, 1}, {"fourth", 54321, 12345, 1, 1}};
    pthread_join(begin(follow, &plans[0]), NULL);
    pthread_join(begin(follow, &plans[1]), NULL);
    if (dumps)
        gmon_dump();
    pthread_t third = begin(follow, &plans[2]), fourth = begin(follow, &plans[3]);
    pthread_join(third, NULL);
    pthread_join(fourth, NULL);
}

static void many(long number) {
    static const char *names[] = {"red", "green", "blue"};
    static long alphas[3], betas[3], threads[3];
    enum { AT_ONCE = 8 };
    struct plan plans[AT_ONCE];
    pthread_t started[AT_ONCE];
    for (long first = 0; first < number; first += AT_ONCE) {
        long end = first + AT_ONCE < number ? first + AT_ONCE : number;
        for (long i = first; i < end; i++) {
            plans[i - first] = (struct plan){names[i % 3], i % 5, 1 + i % 2, 1, 0};
            alphas[i % 3] += i % 5;
            betas[i % 3] += 1 + i % 2;
            threads[i % 3]++;
            started[i - first] = begin(follow, &plans[i - first]);
        }
        for (long i = first; i < end; i++)
            pthread_join(started[i - first], NULL);
    }
    for (int i = 0; i < 3; i++) {
        say(names[i], "alpha", alphas[i]);
        say(names[i], "beta", betas[i]);
        say(names[i], "follow", threads[i]);
        printf("sent %s %ld\n", names[i], threads[i]);
    }
}

static int has_renamed[2], stays[2];
FUNCTION void *renamed_between(void *unused) {
    pthread_setname_np(pthread_self(), "first-name");
    for (int i = 0; i < 3; i++)
        alpha();
    pthread_setname_np(pthread_self(), "second-name");
    beta();
    beta();
    return unused;
}
FUNCTION void *renamed_at_last(void *unused) {
    char byte = 0;
    pthread_setname_np(pthread_self(), "early");
    alpha();
    pthread_setname_np(pthread_self(), "late");
    if (write(has_renamed[1], &byte, 1) != 1 || read(stays[0], &byte, 1) != 1)
        abort();
    return unused;
}
static void rename_threads(void) {
    char byte;
    pthread_join(begin(renamed_between, NULL), NULL);
    if (pipe(has_renamed) != 0 || pipe(stays) != 0)
        exit(99);
    begin(renamed_at_last, NULL);
    if (read(has_renamed[0], &byte, 1) != 1)
        exit(99);
}

FUNCTION void *count(void *argument) {
    for (long i = 0; i < (long)argument; i++)
        leaf();
    long number = syscall(SYS_gettid);
    printf("number %ld calls %ld\n", number, (long)argument);
    return (void *)number;
}
/* The next thread gets the first free number after `last`. */
static void set_last_number(int last) {
    int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
    char text[16];
    int length = snprintf(text, sizeof text, "%d", last);
    if (file < 0 || write(file, text, length) != length)
        _exit(77);
    close(file);
}
static void reuse(long number) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        exit(77);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (long i = 1; i <= number;) {
            while (syscall(SYS_tgkill, getpid(), 100, 0) == 0 || errno != ESRCH)
                sched_yield();
            set_last_number(99);
            void *got;
            pthread_join(begin(count, (void *)i), &got);
            /* The kernel frees the number of a thread a moment after the thread has disappeared. */
            i += (long)got == 100;
        }
        printf("child %d\n", (int)getpid());
        exit(0);
    }
    int status;
    if (child < 0)
        exit(77);
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static void fork_once(void) {
    static struct plan plan = {"worker", 0, 5, 0, 1};
    for (int i = 0; i < 4; i++)
        alpha();
    pthread_join(begin(follow, &plan), NULL);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 6; i++)
            beta();
        exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(99);
    for (int i = 0; i < 7; i++)
        alpha();
    say("program", "alpha", 11);
    printf("child %d\n", (int)child);
}

FUNCTION int back(int number) { return number + 1; }
FUNCTION void *use_objects(void *argument) {
    enum { TURNS = 6 };
    const struct plan *plan = argument;
    pthread_setname_np(pthread_self(), plan->name);
    for (int turn = 0; turn < TURNS; turn++) {
        char path[32];
        snprintf(path, sizeof path, "./plug%d.so", turn % 2);
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        int (*serve)(int, int, int (*)(int)) = object ? (int (*)(int, int, int (*)(int)))dlsym(object, "serve") : NULL;
        if (!serve)
            abort();
        serve((int)plan->alphas, 0, back);
        dlclose(object);
    }
    say(plan->name, "serve", TURNS);
    say(plan->name, "stride", TURNS * plan->alphas);
    say(plan->name, "back", TURNS * plan->alphas);
    return NULL;
}
static void objects(void) {
    static struct plan plans[] = {{"one", 10, 0, 0, 1}, {"two", 20, 0, 0, 1}, {"three", 30, 0, 0, 1}, {"four", 40, 0, 0, 1}};
    pthread_t first = begin(use_objects, &plans[0]), second = begin(use_objects, &plans[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_join(begin(use_objects, &plans[2]), NULL);
    pthread_join(begin(use_objects, &plans[3]), NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long number = argc > 2 ? atol(argv[2]) : 0;
    if (strcmp(what, "named") == 0)
        named(argc > 2);
    else if (strcmp(what, "many") == 0)
        many(number);
    else if (strcmp(what, "rename") == 0)
        rename_threads();
    else if (strcmp(what, "reuse") == 0)
        reuse(number);
    else if (strcmp(what, "fork") == 0)
        fork_once();
    else if (strcmp(what, "objects") == 0)
        objects();
    else
        return 2;
    return 0;
}
