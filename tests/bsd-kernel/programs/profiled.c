// A profiled program with known counts. The argument selects the part for a test. The program prints the expected
// counts of the profile as `calls NAME N` and `arc CALLER CALLEE N`.
#include "bsd.h"

#define THREADS 4
#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

PART void leaf(void) { KEEP; }
PART void middle(int times) {
    for (int at = 0; at < times; at++) leaf();
    KEEP;
}
PART void light(u64 count) {
    ticks(count);
    KEEP;
}
PART void heavy(u64 count) {
    ticks(count);
    KEEP;
}
PART void in_handler(void) { KEEP; }

PART void handler(int signal) {
    (void)signal;
    in_handler();
}

PART void *worker(void *argument) {
    middle((int)(long)argument);
    return NULL;
}

PART void *ticking_worker(void *argument) {
    u64 count = (u64)argument;
    for (int round = 0; round < 10; round++) {
        light(count);
        heavy(2 * count);
    }
    return NULL;
}

static void run(void *(*function)(void *), long unit) {
    pthread_t threads[THREADS];
    for (long at = 0; at < THREADS; at++) CHECK(pthread_create(&threads[at], NULL, function, (void *)(unit * (at + 1))) == 0);
    for (long at = 0; at < THREADS; at++) CHECK(pthread_join(threads[at], NULL) == 0);
}

static void catch(void) {
    struct sigaction action = {.sa_handler = handler};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
}

static int status_of(pid_t child) {
    int status = -1;
    CHECK(child > 0 && wait4(child, &status, 0, NULL) == child);
    return status;
}

// The calls of the constructor and the destructor are included.
static void counts(void) {
    middle(3);
    run(worker, 1000);
    catch();
    for (int at = 0; at < 7; at++) raise(SIGUSR1);
    say("calls leaf 10104\ncalls middle 7\narc middle leaf 10104\narc worker middle 4\ncalls in_handler 7\n"
        "arc handler in_handler 7\n");
}

static void samples(void) {
    light(100);
    heavy(300);
    run(ticking_worker, 5);
}

// More ticks than 16 bits can count, in several threads.
static void many(void) {
    light(200000);
    heavy(70000);
    run(ticking_worker, 3000);
}

static void forks(void) {
    middle(10);
    light(50);
    pid_t child = fork();
    if (child == 0) {
        middle(4);
        light(20);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    child = vfork();
    if (child == 0) _exit(5);
    CHECK(status_of(child) == 5 << 8);
    middle(1);
    light(3);
}

static void leave(void) {
    middle(6);
    light(60);
    _exit(3);
}

// One thread ends the process while the others wait.
static volatile int finished;
PART void *leaving_worker(void *argument) {
    middle((int)(long)argument);
    light((u64)argument);
    int before = __atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&finished, __ATOMIC_SEQ_CST) < THREADS) __asm__ volatile("");
    if (before == THREADS - 1) _exit(3);
    while (1) nanosleep(&(struct timespec){1000, 0}, NULL);
}
static void thread_leaves(void) { run(leaving_worker, 100); }

static void die(void) {
    middle(6);
    light(60);
    raise(15);
}

static void confine(void) {
#ifdef __FreeBSD__
    CHECK(cap_enter() == 0);
#else
    CHECK(pledge("stdio", NULL) == 0);
#endif
}

static void confined(void) {
    middle(2);
    confine();
    middle(2);
    light(30);
}

void moncontrol(int);
static void confined_threads(void) {
    confine();
    run(worker, 10);
    moncontrol(0);
    moncontrol(1);
    light(30);
}

#ifdef __FreeBSD__
// Ticks that come late, and ticks in the kernel.
PART void delayed(u64 count) {
    late_ticks(count);
    KEEP;
}
static void late(void) {
    light(813);
    delayed(813);
    light(8128);
    delayed(2032);
    light(8128);
}
PART void in_system(u64 count) {
    system_ticks(count);
    KEEP;
}
static void system_time(void) {
    light(100);
    in_system(60992);
    light(10);
}
static void long_system_time(void) {
    in_system(70400);
    // The runtime reads the counters here, before the child starts.
    moncontrol(0);
    moncontrol(1);
    pid_t child = fork();
    if (child == 0) exit(0);
    CHECK(status_of(child) == 0);
}
// Another thread changes counters while a thread is in the kernel.
PART void *in_kernel_worker(void *argument) {
    in_system((u64)argument);
    return NULL;
}
static void both_times(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_kernel_worker, (void *)60992) == 0);
    for (int at = 0; at < 14; at++) {
        CHECK(nanosleep(&(struct timespec){0, 500000000}, NULL) == 0);
        light(10);
    }
    CHECK(pthread_join(thread, NULL) == 0);
}

// The first thread ends before the last thread, which ends without exit.
PART void *last_worker(void *argument) {
    middle(20);
    light(40);
    return argument;
}
static void last_thread(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, last_worker, NULL) == 0);
    thr_exit(NULL);
    CHECK(0);
}
#endif

// The program's own timer and SIGPROF handler keep working.
static volatile int own_ticks;
PART void on_timer(int signal) {
    (void)signal;
    own_ticks++;
}
static void own_timer(void) {
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 100000}, {0, 100000}};
    CHECK(sigaction(SIGPROF, &action, NULL) == 0 && setitimer(ITIMER_PROF, &timer, NULL) == 0);
    light(8128);
    CHECK(own_ticks == 10);
}

static void elsewhere(void) {
    CHECK(chdir("/") == 0);
    middle(9);
}

static void control(void) {
    moncontrol(0);
    middle(5);
    light(10);
    moncontrol(1);
    middle(2);
    light(20);
}

static void killed(void) {
    middle(6);
    light(24384); // three seconds
    kill(getpid(), SIGKILL);
}

// The executed program writes its own profile.
static char *own_path;
static void executes(void) {
    middle(50);
    light(500);
    char *const arguments[] = {own_path, "leave", NULL};
    execve(own_path, arguments, environ);
}

// A thread forks while other threads are profiled.
static void *forking_worker(void *argument) {
    middle((int)(long)argument);
    pid_t child = fork();
    if (child == 0) {
        middle(7);
        light(9);
        _exit(0);
    }
    CHECK(status_of(child) == 0);
    middle((int)(long)argument);
    return NULL;
}
static void forking_threads(void) { run(forking_worker, 10); }

static int initialized;
__attribute__((constructor)) static void constructor(void) {
    middle(1);
    initialized = 1;
}
__attribute__((destructor)) static void destructor(void) { middle(100); }

int main(int argc, char **argv) {
    static const struct { const char *name; void (*run)(void); } parts[] = {
        {"counts", counts}, {"samples", samples},     {"many", many}, {"forks", forks},         {"leave", leave},
        {"die", die},       {"confined", confined}, {"own_timer", own_timer}, {"elsewhere", elsewhere},
        {"control", control}, {"killed", killed}, {"executes", executes}, {"forking_threads", forking_threads},
        {"confined_threads", confined_threads}, {"thread_leaves", thread_leaves},
#ifdef __FreeBSD__
        {"late", late}, {"system_time", system_time}, {"long_system_time", long_system_time}, {"last_thread", last_thread},
        {"both_times", both_times},
#endif
    };
    CHECK(argc == 2 && initialized);
    own_path = argv[0];
    for (u64 at = 0; at < sizeof parts / sizeof parts[0]; at++)
        if (!strcmp(argv[1], parts[at].name)) {
            parts[at].run();
            return 0;
        }
    return 1;
}
