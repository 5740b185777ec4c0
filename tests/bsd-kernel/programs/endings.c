// A profiled program that gives up rights or ends in an unusual way. The argument selects the part for a test.
#include "bsd.h"

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

PART void leaf(void) { KEEP; }
PART void light(u64 count) {
    ticks(count);
    KEEP;
}

// What each part records before the end.
static void work(void) {
    for (int at = 0; at < 6; at++) leaf();
    light(60);
}

static void jailed(void) {
    work();
    CHECK(chroot("below") == 0 && chdir("/") == 0);
#ifdef __FreeBSD__
    CHECK(cap_enter() == 0);
#else
    CHECK(unveil("/", "r") == 0 && unveil(NULL, NULL) == 0);
    CHECK(setresuid(1001, 1001, 1001) == 0 && pledge("stdio", NULL) == 0);
#endif
    work();
}

// The runtime's descriptors too.
static void closes(void) {
    work();
    for (int descriptor = 0; descriptor < 2048; descriptor++) close(descriptor);
}

void quick_exit(int);
static void leaves_quickly(void) {
    work();
    quick_exit(6);
}

static void aborts(void) {
    work();
    raise(SIGABRT);
}

static void leaves(void) {
    work();
    _exit(4);
}

static void killed(void) {
    work();
    kill(getpid(), SIGKILL);
}

static void fails_to_execute(char **argv) {
    work();
    char *const arguments[] = {argv[0], NULL};
    CHECK(execve("nowhere/nothing", arguments, environ) == -1 && errno == 2);
    work();
    _exit(5);
}

#ifdef __OpenBSD__
// The end of the last thread is the end of the process. The first thread ends before the other thread works.
static volatile u32 is_alone;
static void *works_alone(void *argument) {
    while (!is_alone) nanosleep(&(struct timespec){0, 1000}, NULL);
    work();
    return argument;
}
void __threxit(u32 *);
static void ends_threads(void) {
    work();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, works_alone, NULL) == 0);
    is_alone = 1;
    __threxit(NULL);
}
#endif

static volatile u64 *depth;
PART int descends(int number) {
    ++*depth;
    int below = descends(number + 1);
    KEEP;
    return below + 1;
}

// A child recurses until its stack is full. The parent prints the number of the child's calls.
static void overflows(void) {
    depth = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        work();
        descends(0);
    }
    int status;
    CHECK(wait4(child, &status, 0, NULL) == child && (status & 0x7f) == SIGSEGV);
    say_number("descends", (long)*depth);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    if (!strcmp(argv[1], "jailed")) jailed();
    if (!strcmp(argv[1], "aborts")) aborts();
    if (!strcmp(argv[1], "leaves")) leaves();
    if (!strcmp(argv[1], "leaves_quickly")) leaves_quickly();
    if (!strcmp(argv[1], "closes")) closes();
    if (!strcmp(argv[1], "killed")) killed();
    if (!strcmp(argv[1], "fails_to_execute")) fails_to_execute(argv);
    if (!strcmp(argv[1], "overflows")) overflows();
#ifdef __OpenBSD__
    if (!strcmp(argv[1], "ends_threads")) ends_threads();
#endif
    return 0;
}
