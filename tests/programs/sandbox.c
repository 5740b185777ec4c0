/*
 * Gives up system calls, calls many functions, and ends: sandbox WHAT [HOW]. It prints its calls first.
 *
 *     strict              only read, write, _exit and sigreturn are left; ends by exit of the thread
 *     kill, trap, error   a filter that does so on all but a few calls; ends by exit
 *     all HOW             the same filter for all threads, by seccomp(2)
 *     threads HOW         four threads that start behind a filter that allows the C library to make them
 *     silent HOW          a filter that also forbids returning from signal handlers
 *     files HOW           a filter that allows writing files, but not getpid
 *     child HOW           a fork child behind the filter also calls and ends
 *     worker              one thread goes into strict mode; the program ends normally
 *     probe               tries impossible filters, as programs do to probe the kernel
 *     locked              locks all its memory, and prints the reserve before and after that
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "looks.h"

#ifndef SYS_rseq
#ifdef __aarch64__
#define SYS_rseq 293
#else
#define SYS_rseq 334
#endif
#endif

#define QUIET __attribute__((no_instrument_function))
#define TEN(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4) X(p##5) X(p##6) X(p##7) X(p##8) X(p##9)
#define HUNDRED(X) TEN(X, f0) TEN(X, f1) TEN(X, f2) TEN(X, f3) TEN(X, f4) TEN(X, f5) TEN(X, f6) TEN(X, f7) TEN(X, f8) TEN(X, f9)
#define DEFINE(name) __attribute__((noinline)) void name(void) { counted(); }
#define CALL(name) name();

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }
HUNDRED(DEFINE)
/* Eight places from which each of a hundred functions is called: 900 arcs with those to `counted`. */
#define ROUND HUNDRED(CALL)
QUIET static void many(int times) {
    while (times-- > 0) {
        ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND
    }
}
enum { CALLS = 800 };

static const unsigned few[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_brk, SYS_futex, SYS_clock_gettime};
static const unsigned for_threads[] = {
    SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq,
    SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_sched_getaffinity, SYS_prlimit64, SYS_getrandom,
    SYS_wait4, SYS_set_tid_address,
};
static const unsigned for_files[] = {
    SYS_openat, SYS_close, SYS_pwrite64, SYS_ftruncate, SYS_unlinkat, SYS_statx, SYS_pread64,
};

static const unsigned for_looks[] = {SYS_rt_sigtimedwait};

static struct sock_filter steps[256];
static unsigned short length;

QUIET static void allow(const unsigned *numbers, size_t size, unsigned except) {
    for (size_t i = 0; i < size / sizeof *numbers; i++)
        if (numbers[i] != except) {
            steps[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
            steps[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        }
}

QUIET static void install(const char *what, const char *how) {
    unsigned action = strcmp(how, "kill") == 0   ? SECCOMP_RET_KILL_PROCESS
                      : strcmp(how, "trap") == 0 ? SECCOMP_RET_TRAP
                                                 : SECCOMP_RET_ERRNO | EPERM;
    int makes = strcmp(what, "threads") == 0 || strcmp(what, "child") == 0;
    steps[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    allow(few, sizeof few, strcmp(what, "silent") == 0 ? SYS_rt_sigreturn : -1U);
    if (makes)
        allow(for_threads, sizeof for_threads, -1U);
    if (strcmp(what, "files") == 0)
        allow(for_files, sizeof for_files, -1U);
    if (wanted_looks > 0)
        allow(for_looks, sizeof for_looks, -1U);
    steps[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    struct sock_fprog filter = {length, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        exit(77);
    long result = strcmp(what, "all") == 0
                      ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter)
                      : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    if (result != 0)
        exit(77);
}

QUIET static void *thread(void *unused) {
    many(100);
    return unused;
}

QUIET static void *strict_thread(void *unused) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        syscall(SYS_exit_group, 77);
    many(1);
    syscall(SYS_exit, 0);
    return unused;
}

/* Long enough for samples to come. */
QUIET static long busy(void) {
    struct timespec now;
    long calls = 0;
    do {
        many(1);
        calls += CALLS;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (needs_looks() || (now.tv_sec == 0 && now.tv_nsec < 500000000));
    return calls;
}

/* Kilobytes of mappings that are left out of core dumps, one of which is the runtime's reserve. */
QUIET static long reserved(void) {
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    long size = 0, sum = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        sscanf(line, "Size: %ld", &size);
        if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dd"))
            sum += size;
    }
    if (maps)
        fclose(maps);
    return sum;
}

QUIET static void probe(void) {
    struct sock_fprog nothing = {1, NULL};
    int modes[] = {0, 1, 2, 3};
    errno = 0;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT)
        exit(90);
    errno = 0;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 8) != -1 || errno != EFAULT)
        exit(91);
    errno = 0;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != -1 || errno != EFAULT)
        exit(92);
    errno = 0;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nothing) != -1 || errno == 0)
        exit(93);
    errno = 0;
    if (prctl(PR_SET_SECCOMP, modes[3] + 4) != -1 || errno != EINVAL)
        exit(94);
    if (prctl(PR_GET_SECCOMP) != 0 || syscall(SYS_getppid) != getppid())
        exit(95);
    errno = 0;
    if (syscall(SYS_close, -1) != -1 || errno != EBADF)
        exit(96);
}

QUIET int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
    long calls = 1 + CALLS;
    static char buffer[4096]; /* without it the C library would ask what standard output is */
    pthread_t id[4];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    counted();
    if (strcmp(what, "strict") == 0) {
        printf("calls counted %ld\narc f55 counted %d\n", calls, 8);
        fflush(stdout);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            return 77;
        many(1);
        syscall(SYS_exit, 3);
    }
    if (strcmp(what, "worker") == 0) {
        if (pthread_create(id, NULL, strict_thread, NULL) != 0)
            return 99;
        pthread_join(*id, NULL);
    } else if (strcmp(what, "probe") == 0)
        probe();
    else if (strcmp(what, "locked") == 0) {
        long before = reserved();
        int locked = mlockall(MCL_CURRENT | MCL_FUTURE);
        printf("locked %d before %ld behind %ld\n", locked, before, reserved());
    } else {
        if (strcmp(how, "busy") == 0)
            begin_looks(24); /* the filter will forbid this */
        install(what, *how ? how : what);
    }
    if (strcmp(what, "threads") == 0) {
        for (int i = 0; i < 4; i++)
            if (pthread_create(&id[i], NULL, thread, NULL) != 0)
                return 99;
        for (int i = 0; i < 4; i++)
            pthread_join(id[i], NULL);
        calls += 4 * 100 * CALLS;
    } else if (strcmp(what, "child") == 0) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            many(50);
            exit(5);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5)
            return 98;
    } else if (strcmp(what, "worker") == 0)
        calls += CALLS;
    many(1);
    if (strcmp(how, "busy") == 0)
        calls += busy();
    printf("calls counted %ld\n", calls);
    return 3;
}
