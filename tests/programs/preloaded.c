/* A program without -pg for gmon-run: preloaded threads | execs NUMBER | filter PROGRAM | signal NUMBER | code STATUS |
   forks NUMBER */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static double used(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Works until this thread has used so many seconds of CPU time more. */
__attribute__((noinline)) static void work_for(double seconds) {
    double end = used(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (used(CLOCK_THREAD_CPUTIME_ID) < end)
        for (volatile int i = 0; i < 20000; i++) {
        }
}

static __thread volatile sig_atomic_t has_looked;

static void on_look(int signal) {
    (void)signal;
    has_looked = 1;
}

/* Works until the kernel has noticed all ticks of this thread that are due, however busy the machine is: a timer of the
   thread that is due expires when the kernel next looks at the thread's timers. */
static void work_until_the_kernel_looks(void) {
    /* The kernel's form of struct sigevent: the C libraries do not agree on the name of the thread's number. */
    struct {
        long value;
        int signal, notify, thread, rest[11];
    } event = {.signal = SIGUSR1, .notify = 4 /* SIGEV_THREAD_ID */, .thread = syscall(SYS_gettid)};
    struct itimerspec soon = {.it_value.tv_nsec = 1};
    int timer;
    sigset_t looks;
    signal(SIGUSR1, on_look);
    /* musl's thrd_create leaves all signals blocked. */
    sigemptyset(&looks);
    sigaddset(&looks, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &looks, NULL);
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer))
        _exit(77);
    syscall(SYS_timer_settime, timer, 0, &soon, NULL);
    while (!has_looked)
        ;
}

__attribute__((noinline)) static void first(void) {
    work_for(0.4);
    work_until_the_kernel_looks();
}
__attribute__((noinline)) static void second(void) {
    work_for(0.3);
    work_until_the_kernel_looks();
}

static void *in_thread(void *argument) {
    first();
    return argument;
}

static int in_c11_thread(void *argument) {
    second();
    return *(int *)argument;
}

static int in_threads(void) {
    pthread_t thread;
    thrd_t other;
    int number = 42, result;
    void *same;
    if (pthread_create(&thread, NULL, in_thread, &number) || thrd_create(&other, in_c11_thread, &number) != thrd_success)
        return 1;
    pthread_join(thread, &same);
    thrd_join(other, &result);
    printf("%d %d\n", same == &number, result);
    return 0;
}

/* Works, and executes itself so many times in its place. */
static int execs(char **words) {
    int left = atoi(words[2]);
    work_for(0.1);
    if (!left) {
        puts("done");
        return 0;
    }
    char number[16];
    snprintf(number, sizeof number, "%d", left - 1);
    execl(words[0], words[0], words[1], number, (char *)NULL);
    return 1;
}

/* So many children, one after the other, each with its own status. */
static int forks(int number) {
    int sum = 0;
    for (int i = 0; i < number; i++) {
        pid_t child = fork();
        if (!child)
            exit(i % 7);
        int status;
        waitpid(child, &status, 0);
        sum += WEXITSTATUS(status);
    }
    printf("%d\n", sum);
    return 0;
}

/* Installs a filter that kills a process at calls that the runtime makes and other programs do not, and executes a
   program. */
static int filter(char *program) {
    static const int killing[] = {SYS_timer_create, SYS_timer_settime, SYS_statx, SYS_getpid, SYS_perf_event_open, SYS_process_vm_readv};
    enum { NUMBER = sizeof killing / sizeof *killing };
    struct sock_filter code[NUMBER + 3];
    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < NUMBER; i++)
        code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)killing[i], NUMBER - i, 0);
    code[NUMBER + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[NUMBER + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog all = {NUMBER + 3, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
        return 2;
    execl(program, program, (char *)NULL);
    return 1;
}

int main(int number, char **words) {
    const char *what = number > 1 ? words[1] : "";
    if (!strcmp(what, "threads"))
        return in_threads();
    if (!strcmp(what, "execs"))
        return execs(words);
    if (!strcmp(what, "forks"))
        return forks(atoi(words[2]));
    if (!strcmp(what, "filter"))
        return filter(words[2]);
    if (!strcmp(what, "signal")) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        return raise(atoi(words[2]));
    }
    if (!strcmp(what, "code"))
        return atoi(words[2]);
    return 99;
}
