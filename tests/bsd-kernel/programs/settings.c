// A profiled program for the environment variables on OpenBSD. The argument selects the part for a test.
#include "bsd.h"

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

void moncontrol(int);

PART void leaf(void) { KEEP; }
PART void light(u64 count) {
    ticks(count);
    KEEP;
}

static void runs(void) {
    leaf();
    light(20);
}

static void forks(void) {
    runs();
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        runs();
        exit(0);
    }
    CHECK(wait4(child, &status, 0, NULL) == child && status == 0);
}

// The interval timer stops for the new program, which would die of SIGPROF.
static void executes(char **argv) {
    runs();
    char *arguments[] = {argv[0], (char *)"long", NULL};
    char *nothing[] = {NULL};
    CHECK(execve("/nowhere", arguments, environ) == -1);
    light(10);
    execve(argv[0], arguments, nothing);
}

static void controls(void) {
    light(40);
    moncontrol(0);
    light(100);
    moncontrol(1);
    light(60);
}

static void own_timer(void) {
    struct itimerval timer = {{0, 50000}, {0, 50000}};
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    light(1);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    static const struct { const char *name; void (*run)(void); } parts[] = {
        {"runs", runs}, {"forks", forks}, {"controls", controls}, {"own_timer", own_timer},
    };
    if (!strcmp(argv[1], "executes")) executes(argv);
    if (!strcmp(argv[1], "long")) {
        light(100);
        return 5;
    }
    for (u64 at = 0; at < sizeof parts / sizeof parts[0]; at++)
        if (!strcmp(argv[1], parts[at].name)) {
            parts[at].run();
            return 0;
        }
    return 1;
}
