/* Prints the program's view of the dispositions of its signals, or ends by one of them after it has set the default.
   The output and the end are the same without a profiling runtime. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

static void handler(int signal) { (void)signal; }
static void other(int signal, siginfo_t *info, void *context) { (void)signal, (void)info, (void)context; }

static const char *name(void (*found)(int)) {
    return found == SIG_DFL           ? "default"
           : found == SIG_IGN         ? "ignored"
           : found == SIG_ERR         ? "error"
           : found == handler         ? "handler"
           : found == (void *)other   ? "other"
           : found == (void (*)(int))2 ? "hold"
                                      : "unknown";
}

static int is_empty(const sigset_t *set) {
    for (int signal = 1; signal < 65; signal++)
        if (sigismember(set, signal) == 1)
            return 0;
    return 1;
}

static void show(int signal) {
    struct sigaction found;
    memset(&found, 0x55, sizeof found);
    errno = 0;
    int result = sigaction(signal, NULL, &found);
    if (result != 0)
        printf("%d: %d, errno %d\n", signal, result, errno);
    else if (signal == 60) /* the sampling signal: settings beside the default are not kept */
        printf("%d: %s\n", signal, name(found.sa_handler));
    else
        printf("%d: %s, flags %#x, mask %s %d\n", signal, name(found.sa_handler), (unsigned)found.sa_flags,
               is_empty(&found.sa_mask) ? "empty" : "set", sigismember(&found.sa_mask, SIGUSR1));
}

/* What each way to set the default, a handler, or nothing reports of the former setting. */
static void set(int signal_number) {
    static const int flags[] = {0, SA_RESTART, SA_SIGINFO, SA_ONSTACK, SA_NODEFER, SA_RESTART | SA_SIGINFO | SA_ONSTACK};
    struct sigaction action, before;
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        memset(&action, 0, sizeof action);
        action.sa_handler = SIG_DFL;
        action.sa_flags = flags[i];
        sigaddset(&action.sa_mask, SIGUSR1);
        sigaction(signal_number, &action, NULL);
        show(signal_number);
    }
    action.sa_sigaction = other;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(signal_number, &action, &before);
    printf("before: %s, then ", name(before.sa_handler));
    show(signal_number);
    sigaction(signal_number, &before, &before);
    printf("before: %s, then ", name(before.sa_handler));
    show(signal_number);
    printf("signal: %s", name(signal(signal_number, handler)));
    printf(" %s", name(signal(signal_number, SIG_DFL)));
    printf(" %s", name(signal(signal_number, SIG_IGN)));
    printf(" %s", name(signal(signal_number, SIG_DFL)));
    printf(" %s\n", name(signal(signal_number, SIG_DFL)));
    siginterrupt(signal_number, 1);
    printf("signal: %s\n", name(signal(signal_number, handler)));
    siginterrupt(signal_number, 0);
    printf("sigset: %s", name(sigset(signal_number, SIG_DFL)));
    printf(" %s", name(sigset(signal_number, (void (*)(int))2)));
    printf(" %s", name(sigset(signal_number, handler)));
    printf(" %s", name(sigset(signal_number, (void (*)(int))2)));
    printf(" %s\n", name(sigset(signal_number, SIG_DFL)));
    show(signal_number);
    sigignore(signal_number);
    show(signal_number);
    signal(signal_number, SIG_DFL);
#ifdef __GLIBC__
    printf("ssignal: %s", name(ssignal(signal_number, handler)));
    printf(" sysv_signal: %s", name(sysv_signal(signal_number, handler)));
    show(signal_number);
    printf(" sysv_signal: %s\n", name(sysv_signal(signal_number, SIG_DFL)));
#endif
}

/* Threads that set handlers and defaults and must never see anything else. */
static void *ask(void *unused) {
    for (int i = 0; i < 20000; i++) {
        struct sigaction found;
        sigaction(SIGUSR2, NULL, &found);
        if (strcmp(name(found.sa_handler), "unknown") == 0)
            puts("unknown handler");
        if (strcmp(name(signal(SIGUSR2, i % 2 ? SIG_DFL : handler)), "unknown") == 0)
            puts("unknown handler");
    }
    return unused;
}

/* The blocked signals. */
static void blocked(const char *when) {
    sigset_t set, same;
    memset(&set, 0, sizeof set);
    memset(&same, 0, sizeof same);
    int result = pthread_sigmask(77, NULL, &set); /* nothing is set, so nothing can be wrong */
    int same_result = sigprocmask(SIG_BLOCK, NULL, &same);
    printf("%s: %d %d %s,", when, result, same_result, memcmp(&set, &same, 8) == 0 ? "same" : "different");
    for (int signal = 1; signal < 65; signal++)
        if (sigismember(&set, signal) == 1)
            printf(" %d", signal);
    puts("");
}

static void *inherits(void *unused) {
    counted();
    blocked("a thread");
    return unused;
}

static void on_mask(int signal) {
    (void)signal;
    blocked("a handler");
}

/* What a thread sees of its mask, with everything blocked in all the usual ways. */
static void masks(void) {
    sigset_t all, none, some, before;
    pthread_t thread;
    sigfillset(&all);
    sigemptyset(&none);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, 60);
    blocked("at first");
    pthread_sigmask(SIG_BLOCK, &all, &before);
    blocked("all");
    pthread_create(&thread, NULL, inherits, NULL);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_BLOCK, &some, &all);
    blocked("more");
    fflush(stdout);
    if (fork() == 0) {
        blocked("a child");
        exit(0);
    }
    wait(NULL);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    sigdelset(&all, SIGINT);
    sigprocmask(SIG_SETMASK, &all, NULL);
    blocked("all but one");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    blocked("as before");
    sigprocmask(SIG_BLOCK, &some, &before);
    blocked("some");
    sigprocmask(SIG_UNBLOCK, &some, NULL);
    blocked("none");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_mask;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    blocked("behind it");
    signal(SIGUSR1, SIG_DFL);
    errno = 0;
    printf("%d %d\n", pthread_sigmask(77, &none, NULL), sigprocmask(77, &none, NULL) == -1 ? errno : 0);
}

static void refused(int signal_number, void (*to)(int)) {
    errno = 0;
    const char *before = name(signal(signal_number, to));
    printf("%s %d\n", before, errno);
}

static int see(void) {
    for (int signal = -1; signal < 67; signal++)
        show(signal);
    static const int all[] = {SIGHUP, SIGINT, SIGSEGV, SIGBUS, SIGALRM, SIGTERM, SIGPROF, SIGCHLD, SIGWINCH, 40, 60};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        set(all[i]);
    refused(0, SIG_DFL);
    refused(SIGKILL, handler);
    refused(SIGTERM, SIG_ERR);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, ask, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    masks();
    fflush(stdout);
    if (fork() == 0) {
        counted();
        for (int signal = 1; signal < 65; signal++)
            show(signal);
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    pid_t child = vfork();
    if (child == 0) { /* the settings are the program's, and the memory is ours */
        struct sigaction found;
        signal(SIGTERM, SIG_IGN);
        sigaction(SIGINT, NULL, &found);
        signal(SIGINT, SIG_DFL);
        _exit(found.sa_handler == SIG_DFL ? 7 : 8);
    }
    int status;
    waitpid(child, &status, 0);
    printf("vfork: %x ", status);
    show(SIGTERM);
    return 0;
}

/* Three children end by signals: one that it sends itself, an abort, and a fault. With `nested`, their parent is the
   first process of a new namespace. */
static int end_children(int nested) {
    static const int signals[] = {SIGTERM, SIGABRT, SIGSEGV};
    int status = 0;
    if (nested && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return 77;
    if (nested && fork() != 0) {
        wait(&status);
        return WEXITSTATUS(status);
    }
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            counted();
            if (signals[i] == SIGSEGV)
                *(volatile int *)8 = 0;
            raise(signals[i]);
        }
        wait(&status);
        printf("child %d of %d: %x\n", i, getpid(), status & 0x7f);
    }
    return 3;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "see";
    counted();
    if (strcmp(how, "see") == 0)
        return see();
    if (strcmp(how, "children") == 0)
        return end_children(argc > 2);
    if (strcmp(how, "all") == 0) { /* as launchers do before they execute something: also the runtime's own signals */
        for (int signal_number = 1; signal_number < 65; signal_number++)
            signal(signal_number, SIG_DFL);
        for (volatile long i = 0; i < 400000000; i++)
            ;
        return 3;
    }
    int number = argc > 2 ? atoi(argv[2]) : SIGTERM;
    if (strcmp(how, "wait") == 0) { /* blocks everything, works, and then waits; prints the signals that came */
        sigset_t set;
        sigfillset(&set);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        for (volatile long i = 0; i < 400000000; i++)
            ;
        kill(getpid(), SIGTERM);
        int came = 0;
        sigwait(&set, &came);
        printf("%d\n", came);
        return 3;
    }
    if (strcmp(how, "again") == 0) { /* a handler that resets itself and lets the fault happen again */
        signal(number, handler);
        signal(number, SIG_DFL);
        if (number == SIGSEGV)
            *(volatile int *)0x1238 = 0;
        raise(number);
    }
    if (strcmp(how, "restored") == 0) {
        struct sigaction before, action;
        memset(&action, 0, sizeof action);
        action.sa_handler = handler;
        sigaction(number, &action, &before);
        raise(number);
        sigaction(number, &before, NULL);
        kill(getpid(), number);
    }
    if (strcmp(how, "late") == 0) { /* after the end of a file */
        char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(tmpfile()), 0);
        return memory[100];
    }
    if (strcmp(how, "fault") == 0)
        *(volatile int *)0x1238 = 0;
    if (strcmp(how, "deep") == 0) {
        volatile char room[4096];
        room[0] = 0;
        return main(argc, argv) + room[0];
    }
    if (strcmp(how, "raise") == 0)
        raise(number);
    if (strcmp(how, "queue") == 0)
        sigqueue(getpid(), number, (union sigval){.sival_int = 4711});
    if (strcmp(how, "kill") == 0)
        kill(getpid(), number);
    if (strcmp(how, "abort") == 0)
        abort();
    return 3;
}
