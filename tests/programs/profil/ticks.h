/*
 * For programs that profile themselves: ticks without a clock, buffers between inaccessible pages, and a table of
 * trials.
 *
 *     program NAME [ARGUMENT [direct]]     runs the trial; prints an error and ends with 1, or ends with 0
 */
#ifndef TICKS_H
#define TICKS_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<linux/filter.h>) /* not with every C library */
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif

#define CHECK(what) \
    do { \
        if (!(what)) { \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            fflush(stdout); \
            _exit(1); \
        } \
    } while (0)

/* The signals of profil's timer and of the timers of cc -pg. */
#define SIGNAL_OF_PROFIL 59
#define SIGNAL_OF_RUNTIME 60

/*
 * A function NAME(n, process, thread) that sends the thread a signal n times. Each signal arrives after the system
 * call, at NAME_pc; a clock's ticks may be anywhere. A user can have only a limited number of pending signals in all
 * processes, so a signal that is refused for that (EAGAIN, 11) is sent again.
 */
#define TEXT(number) #number
#define TICKS(NAME) TICKS_BY(NAME, SIGNAL_OF_PROFIL)
#define TICKS_BY(NAME, SIGNAL) TICKS_BY_NUMBER(NAME, SIGNAL)
#if defined(__x86_64__)
#define SEND_TICKS(NAME, SIGNAL) \
    "    movq %rdi, %r8\n" \
    "    movq %rsi, %rdi\n" \
    "    movq %rdx, %rsi\n" \
    "    movl $" SIGNAL ", %edx\n" \
    "1:  decq %r8\n" \
    "    js 2f\n" \
    "3:  movl $234, %eax\n" \
    "    syscall\n" NAME "_pc:\n" \
    "    testl %eax, %eax\n" \
    "    jz 1b\n" \
    "    cmpl $-11, %eax\n" \
    "    je 3b\n" \
    "    ud2\n"
#elif defined(__aarch64__)
#define SEND_TICKS(NAME, SIGNAL) \
    "    mov x9, x0\n" \
    "    mov x10, x1\n" \
    "    mov x1, x2\n" \
    "    mov x2, #" SIGNAL "\n" \
    "    mov x8, #131\n" \
    "1:  subs x9, x9, #1\n" \
    "    b.mi 2f\n" \
    "3:  mov x0, x10\n" \
    "    svc #0\n" NAME "_pc:\n" \
    "    cbz x0, 1b\n" \
    "    cmn x0, #11\n" \
    "    b.eq 3b\n" \
    "    brk #1\n"
#endif
#define TICKS_BY_NUMBER(NAME, SIGNAL) \
    void NAME(long n, long process, long thread); \
    void NAME##_pc(void); \
    __asm__(".pushsection .text\n" \
            ".balign 64\n" \
            ".globl " #NAME ", " #NAME "_pc\n" \
            ".type " #NAME ", %function\n" \
            ".type " #NAME "_pc, %function\n" #NAME ":\n" SEND_TICKS(#NAME, TEXT(SIGNAL)) \
            "2:  ret\n" \
            ".size " #NAME ", . - " #NAME "\n" \
            ".popsection")

TICKS(here);
TICKS(there);

#define HERE ((uintptr_t)here_pc)
#define THERE ((uintptr_t)there_pc)

static inline long thread_id(void) { return syscall(SYS_gettid); }
static inline void tick(void (*function)(long, long, long), long n) { function(n, getpid(), thread_id()); }

/* The ticks that the clock may add: no test uses more than this many ticks of CPU time where it counts. */
enum { CLOCK = 300 };
static inline int is_about(long count, long sent) { return sent <= count && count <= sent + CLOCK; }

/* The bin of a place, in exact numbers. */
static inline size_t bin_of(uintptr_t pc, uintptr_t offset, unsigned scale) {
    return (size_t)((unsigned __int128)(pc - offset) * scale / 131072);
}

enum { PAGE = 4096 };

/* size bytes whose last byte is the last before an inaccessible page; the page before them is inaccessible too. */
static inline void *before_a_wall(size_t size) {
    size_t pages = (size + PAGE - 1) / PAGE * PAGE;
    char *memory = mmap(NULL, pages + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory + PAGE, pages, PROT_READ | PROT_WRITE) == 0);
    return memory + PAGE + pages - size;
}

static inline double cpu_seconds(clockid_t clock) {
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return now.tv_sec + now.tv_nsec / 1e9;
}

/* Uses this much CPU time, nearly all of it in this function. */
__attribute__((noinline, unused)) static void burn(double seconds) {
    double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (volatile int i = 0; i < 200000; i++)
            ;
}

static inline long sum(const void *counts, size_t number) {
    long all = 0;
    for (size_t i = 0; i < number; i++) {
        unsigned short count;
        memcpy(&count, (const char *)counts + i * sizeof count, sizeof count);
        all += count;
    }
    return all;
}

/*
 * Works until the counts are at least this many together. The kernel may notice ticks late, and then many of them count
 * at one place: this function makes no system call, so that place is in the program.
 */
__attribute__((noinline, unused)) static void burn_until(const void *counts, size_t number, long ticks) {
    for (long rounds = 0; sum(counts, number) < ticks; rounds++) {
        CHECK(rounds < 1000000); /* a minute and more: the ticks do not come */
        for (volatile int i = 0; i < 200000; i++)
            ;
        __asm__ volatile("" : : : "memory"); /* the counts change meanwhile */
    }
}

/* From now on, the kernel refuses our writes to the program's memory with this error, as some sandboxes do. */
static inline void refuse_process_vm(void) {
#ifdef SECCOMP_MODE_FILTER
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    char byte = 1, copy = 0;
    struct iovec local = {&copy, 1}, remote = {&byte, 1};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    CHECK(syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0) == -1 && errno == EPERM);
#else
    CHECK(!"possible here");
#endif
}

struct trial {
    const char *name;
    void (*function)(void);
};

static const char *argument;
static char **arguments;

static inline int try_one(const struct trial *trials, char **argv) {
    arguments = argv;
    argument = argv[1] != NULL ? argv[2] : NULL;
    if (argument != NULL && argv[3] != NULL && strcmp(argv[3], "direct") == 0)
        refuse_process_vm();
    for (; trials->name != NULL; trials++)
        if (argv[1] != NULL && strcmp(trials->name, argv[1]) == 0) {
            trials->function();
            return 0;
        }
    printf("no such trial\n");
    return 2;
}

#define TRIAL(name) { #name, name }
#define TRIALS(...) \
    int main(int argc, char **argv) { \
        static const struct trial trials[] = {__VA_ARGS__, {NULL, NULL}}; \
        (void)argc; \
        return try_one(trials, argv); \
    }

#endif
