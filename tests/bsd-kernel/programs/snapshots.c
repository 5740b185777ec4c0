// A profiled program for OpenBSD that writes its file while it runs. The argument selects the part for a test.
#include "bsd.h"

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

void gmon_dump(void);
void write_profiling(void);
void moncontrol(int);

PART void leaf(void) { KEEP; }
PART void light(u64 count) {
    ticks(count);
    KEEP;
}
PART void heavy(u64 count) {
    ticks(count);
    KEEP;
}

static int status_of(pid_t child) {
    int status = -1;
    CHECK(child > 0 && wait4(child, &status, 0, NULL) == child);
    return status;
}

// The kernel's file replaces the snapshot at the end, so the program copies the snapshot. The number of the process is
// 1001.
#define FILE_NAME "gmon.snapshots.1001.out"
static void copy_open(int from, int to) {
    static char bytes[1 << 20];
    ssize_t size = read(from, bytes, sizeof bytes);
    CHECK(size >= 0 && size < (ssize_t)sizeof bytes && write(to, bytes, (size_t)size) == size);
    CHECK(close(from) == 0 && close(to) == 0);
}
static void keep_copy(const char *file, const char *copy) {
    int from = open(file, O_RDONLY), to = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(from >= 0 && to >= 0);
    copy_open(from, to);
}

static void dumps(void) {
    leaf();
    light(30);
    gmon_dump();
    keep_copy(FILE_NAME, "first");
    leaf();
    light(5);
    write_profiling();
    keep_copy(FILE_NAME, "second");
    leaf();
    light(7);
}

// The kernel writes no file for a program that executes another program, so the snapshot is left.
PART void executes(char **argv) {
    leaf();
    light(30);
    gmon_dump();
    char *arguments[] = {argv[0], (char *)"nothing", NULL};
    light(2);
    execve("other", arguments, environ);
}

// No promise but stdio: the process must live on.
static void pledged(void) {
    leaf();
    CHECK(pledge("stdio", NULL) == 0);
    light(30);
    gmon_dump();
    gmon_dump();
    leaf();
    light(4);
}

// The file that the runtime opened at the start, which a reader can keep open too.
static void live(void) {
    int from = open(FILE_NAME, O_RDONLY), again = open(FILE_NAME, O_RDONLY);
    int first = open("first", O_WRONLY | O_CREAT | O_TRUNC, 0600), second = open("second", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(from >= 0 && again >= 0 && first >= 0 && second >= 0);
    keep_copy(FILE_NAME, "empty");
    leaf();
    light(30);
    CHECK(pledge("stdio", NULL) == 0);
    gmon_dump();
    copy_open(from, first);
    leaf();
    light(7);
    raise(SIGUSR1);
    copy_open(again, second);
    leaf();
    kill(getpid(), SIGKILL);
}

static void named(void) { gmon_dump(); }

static void promised(void) {
    leaf();
    CHECK(pledge("stdio rpath wpath cpath", NULL) == 0);
    light(30);
    gmon_dump();
    keep_copy(FILE_NAME, "first");
    leaf();
}

// A refused pledge changes nothing, and later ones can only take promises away.
static void drops(void) {
    CHECK(pledge("stdio nonsense", NULL) == -1 && errno == EINVAL);
    CHECK(pledge(NULL, "stdio") == 0);
    CHECK(pledge("stdio rpath wpath cpath", NULL) == 0);
    gmon_dump();
    keep_copy(FILE_NAME, "first");
    CHECK(pledge("stdio cpath", NULL) == 0);
    CHECK(pledge("stdio wpath cpath", NULL) == -1 && errno == EPERM);
    leaf();
    gmon_dump();
}

PART void *calling_worker(void *argument) {
    for (int at = 0; at < 50; at++) leaf();
    return argument;
}

// No promise at all: the runtime makes no system call.
static void silent(void) {
    leaf();
    light(30);
    CHECK(pledge("", NULL) == 0);
    moncontrol(0);
    moncontrol(1);
    gmon_dump();
    calling_worker(NULL);
    exit(0);
}

static void forks(void) {
    leaf();
    light(30);
    gmon_dump();
    pid_t child = fork();
    if (child == 0) {
        light(8);
        leaf();
        leaf();
        gmon_dump();
        keep_copy("gmon.snapshots.1002.out", "child");
        exit(0);
    }
    CHECK(status_of(child) == 0);
    child = vfork();
    if (child == 0) {
        gmon_dump(); // the parent's profile: no file
        CHECK(pledge("", NULL) == 0); // the child's promises, not the parent's
        _exit(0);
    }
    CHECK(status_of(child) == 0);
    gmon_dump();
    keep_copy(FILE_NAME, "parent");
}

// The kernel would not replace another user's file. The tracer's superuser is the first user.
static void other_user(void) {
    leaf();
    light(30);
    CHECK(setresuid(1001, 1001, 1001) == 0);
    gmon_dump();
    leaf();
}

static void elsewhere(void) {
    CHECK(chdir("below") == 0);
    leaf();
    gmon_dump();
    CHECK(chdir("..") == 0);
    gmon_dump();
}

// Samples of a function. No time passes, which is much faster than ticks.
static void sampled(void (*function)(u64), u64 count) { charge((u64)function, count); }

// 66,000 samples in one place, which a look in the middle notices. The child begins at zero.
static void wraps(void) {
    sampled(light, 40000);
    moncontrol(1);
    sampled(light, 26000);
    gmon_dump();
    keep_copy(FILE_NAME, "first");
    pid_t child = fork();
    if (child == 0) {
        light(20);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    sampled(light, 11);
    sampled(heavy, 5);
}

// A new thread's first call looks at the counters, if some seconds have passed.
static void wraps_before_threads(void) {
    for (int at = 0; at < 2; at++) {
        light(8200);
        sampled(heavy, 33000);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, calling_worker, NULL) == 0 && pthread_join(thread, NULL) == 0);
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    static const struct { const char *name; void (*run)(void); } parts[] = {
        {"dumps", dumps}, {"named", named},       {"pledged", pledged},     {"promised", promised},
        {"drops", drops},       {"silent", silent},       {"live", live},
        {"forks", forks},       {"elsewhere", elsewhere}, {"wraps", wraps},
        {"other_user", other_user},
        {"wraps_before_threads", wraps_before_threads},
    };
    if (!strcmp(argv[1], "executes")) executes(argv);
    if (!strcmp(argv[1], "nothing")) return 5;
    for (u64 at = 0; at < sizeof parts / sizeof parts[0]; at++)
        if (!strcmp(argv[1], parts[at].name)) {
            parts[at].run();
            return 0;
        }
    return 1;
}
