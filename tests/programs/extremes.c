/*
 * Programs that are hard to profile. Each prints its calls.
 *
 *     extremes sequence N     N threads one after the other
 *     extremes small          threads with the smallest stacks
 *     extremes deep           a recursion with a depth of a million calls
 *     extremes arcs           a million distinct arcs
 *     extremes many           more than 2^32 calls of one arc
 *     extremes jumps          longjmp out of profiled functions
 *     extremes cancel         threads that are cancelled
 *     extremes storm N        N signals, one every few microseconds, whose handler calls profiled functions
 *     extremes same N         the same, but the handler calls the function that it interrupts
 *     extremes forks N        N forks while timers run
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))
#define STAY __asm__ volatile("" ::: "memory")

OWN long counted(long n) { STAY; return n + 1; }

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static pthread_t start(void *(*function)(void *), const pthread_attr_t *attributes) {
    pthread_t thread;
    if ((errno = pthread_create(&thread, attributes, function, NULL)) != 0)
        fail("pthread_create");
    return thread;
}

static long peak(void) { /* KiB of memory that was touched, at most */
    char line[256];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &peak);
    if (status)
        fclose(status);
    return peak;
}

static void *three(void *unused) {
    for (int i = 0; i < 3; i++)
        counted(i);
    return unused;
}

static void sequence(int threads) {
    for (int i = 0; i < threads; i++)
        pthread_join(start(three, NULL), NULL);
    printf("calls counted %d\n", 3 * threads);
    printf("peak %ld\n", peak());
}

static void small(void) {
    pthread_attr_t attributes;
    pthread_t threads[32];
    pthread_attr_init(&attributes);
    if ((errno = pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN)) != 0)
        fail("pthread_attr_setstacksize");
    for (int i = 0; i < 32; i++)
        threads[i] = start(three, &attributes);
    for (int i = 0; i < 32; i++)
        pthread_join(threads[i], NULL);
    printf("calls counted 96\n");
}

OWN long deeper(long n) {
    long result = n == 0 ? counted(0) : deeper(n - 1);
    STAY;
    return result;
}

static void *dive(void *unused) {
    deeper(999999);
    return unused;
}

static void deep(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 20);
    pthread_join(start(dive, &attributes), NULL);
    printf("calls deeper 1000000\narc deeper deeper 999999\ncalls counted 1\n");
}

/* A thousand functions that call their argument, and a thousand arguments. */
#define TEN(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4) X(p##5) X(p##6) X(p##7) X(p##8) X(p##9)
#define HUNDRED(X, p) TEN(X, p##0) TEN(X, p##1) TEN(X, p##2) TEN(X, p##3) TEN(X, p##4) \
    TEN(X, p##5) TEN(X, p##6) TEN(X, p##7) TEN(X, p##8) TEN(X, p##9)
#define ALL(X) HUNDRED(X, 0) HUNDRED(X, 1) HUNDRED(X, 2) HUNDRED(X, 3) HUNDRED(X, 4) HUNDRED(X, 5) HUNDRED(X, 6) \
    HUNDRED(X, 7) HUNDRED(X, 8) HUNDRED(X, 9)
typedef long callee(long);
#define CALLEE(n) OWN static long callee##n(long x) { STAY; return x + 1; }
#define CALLER(n) OWN static long caller##n(callee *f, long x) { x = f(x); STAY; return x; }
#define NAME_CALLEE(n) callee##n,
#define NAME_CALLER(n) caller##n,
ALL(CALLEE)
ALL(CALLER)

static void arcs(void) {
    static callee *const callees[] = {ALL(NAME_CALLEE)};
    static long (*const callers[])(callee *, long) = {ALL(NAME_CALLER)};
    long total = 0;
    for (int round = 0; round < 2; round++)
        for (int from = 0; from < 1000; from++)
            for (int to = 0; to < 1000; to++)
                total = callers[from](callees[to], total);
    printf("calls caller000 2000\ncalls callee999 2000\narc caller123 callee456 2\narc caller999 callee000 2\n");
    printf("distinct 1000000 %ld\n", total);
}

static void many(void) {
    long n = 0, end = (1L << 32) + 5;
    while (n < end)
        n = counted(n);
    printf("calls counted %ld\n", end);
}

static jmp_buf back;

OWN void thrown(int depth) {
    if (depth == 0)
        longjmp(back, 1);
    thrown(depth - 1);
    STAY;
}

static void jumps(void) {
    for (volatile int i = 0; i < 1000; i++)
        if (setjmp(back) == 0)
            thrown(9);
        else
            counted(i);
    printf("calls thrown 10000\ncalls counted 1000\n");
}

static void *until_cancelled(void *unused) {
    three(NULL);
    for (;;)
        pause();
    return unused;
}

static void cancel(void) {
    for (int i = 0; i < 100; i++) {
        pthread_t thread = start(until_cancelled, NULL);
        if (i % 2)
            usleep(100);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(start(three, NULL), NULL);
    printf("calls until_cancelled 100\n");
}

static volatile long handled;
static char alternate[1 << 16];

OWN long called_in_handler(long n) { STAY; return n + 1; }
OWN void on_alarm(int signal) {
    (void)signal;
    handled = called_in_handler(handled);
    handled = called_in_handler(handled);
}

OWN long via(long n) { n = counted(n); STAY; return n; }
static void on_same(int signal) {
    (void)signal;
    handled = via(handled);
    handled = via(handled);
}

static void storm(long signals, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
    struct itimerspec period = {{0, 20000}, {0, 20000}};
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    sigset_t alarm;
    long n = 0;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGALRM, &action, NULL) != 0)
        fail("sigaction");
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &period, NULL) != 0)
        fail("timer");
    while (handled < 2 * signals)
        for (int i = 0; i < 1000; i++)
            n = handler == on_same ? via(n) : counted(n);
    /* One more may be on its way. */
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    timer_delete(timer);
    if (handler == on_same)
        printf("calls counted %ld\narc via counted %ld\n", n + handled, n + handled);
    else
        printf("calls counted %ld\ncalls called_in_handler %ld\ncalls on_alarm %ld\n", n, handled, handled / 2);
}

static void forks(int children) {
    /* Enough memory that copying its page tables takes longer than a tick of a fast timer. */
    size_t size = 16 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    memset(memory, 1, size);
    for (int i = 0; i < children; i++) {
        pid_t pid = fork();
        if (pid < 0)
            fail("fork");
        if (pid == 0) {
            static char *const arguments[] = {"true", NULL};
            if (i % 1000 != 0) {
                /* Bypasses the runtime: ten thousand files would say nothing that ten do not. */
                kill(getpid(), SIGKILL);
            }
            execvp("true", arguments);
        }
        counted(i);
        if (waitpid(pid, NULL, 0) != pid)
            fail("waitpid");
    }
    printf("calls counted %d\n", children);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 1000;
    if (strcmp(what, "sequence") == 0)
        sequence(number);
    else if (strcmp(what, "small") == 0)
        small();
    else if (strcmp(what, "deep") == 0)
        deep();
    else if (strcmp(what, "arcs") == 0)
        arcs();
    else if (strcmp(what, "many") == 0)
        many();
    else if (strcmp(what, "jumps") == 0)
        jumps();
    else if (strcmp(what, "cancel") == 0)
        cancel();
    else if (strcmp(what, "storm") == 0)
        storm(number, on_alarm);
    else if (strcmp(what, "same") == 0)
        storm(number, on_same);
    else if (strcmp(what, "forks") == 0)
        forks(number);
    else
        return 2;
    return 0;
}
