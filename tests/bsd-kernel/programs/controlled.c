// A profiled program that controls its profile and creates children. The argument selects the part for a test.
#include "bsd.h"

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

void gmon_dump(void);
void moncontrol(int);

PART void leaf(void) { KEEP; }
PART void counted(u64 count) {
    ticks(count);
    KEEP;
}
PART void uncounted(u64 count) {
    ticks(count);
    KEEP;
}
PART void in_child(int calls) {
    for (int at = 0; at < calls; at++) leaf();
    counted(100);
    KEEP;
}

// Executed programs get an empty environment, because this program's environment may select the interval timer.
static char *nothing[] = {NULL};

static int status_of(pid_t child) {
    int status = -1;
    CHECK(child > 0 && wait4(child, &status, 0, NULL) == child);
    return status;
}

static void dumps(void) {
    leaf();
    counted(40000);
    gmon_dump();
    counted(40000);
    moncontrol(0);
    uncounted(5000);
    leaf();
    moncontrol(1);
    counted(7);
    leaf();
    gmon_dump();
    kill(getpid(), SIGKILL);
}

static void signaled(void) {
    leaf();
    counted(60);
    raise(SIGUSR1);
    kill(getpid(), SIGKILL);
}

static void children(char **argv) {
    leaf();
    // Children that execute a program: by fork and by vfork.
    char *arguments[] = {argv[0], (char *)"nothing", NULL};
    pid_t child = fork();
    if (child == 0) {
        in_child(5);
        execve(argv[0], arguments, nothing);
        _exit(1);
    }
    CHECK(status_of(child) == 5 << 8);
    child = vfork();
    if (child == 0) {
        execve(argv[0], arguments, nothing);
        _exit(1);
    }
    CHECK(status_of(child) == 5 << 8);
    // A failed execve changes nothing.
    CHECK(execve("/nowhere", arguments, nothing) == -1);
    counted(1000);
    leaf();
}

static void becomes_another(char **argv) {
    char *arguments[] = {argv[0], (char *)"nothing", NULL};
    counted(20);
    execve(argv[0], arguments, nothing);
    exit(1);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    if (!strcmp(argv[1], "dumps")) dumps();
    if (!strcmp(argv[1], "signaled")) signaled();
    if (!strcmp(argv[1], "children")) children(argv);
    if (!strcmp(argv[1], "becomes_another")) becomes_another(argv);
    if (!strcmp(argv[1], "nothing")) {
        // Long enough for a timer of the previous program to expire.
        counted(8128);
        return 5;
    }
    return 0;
}
