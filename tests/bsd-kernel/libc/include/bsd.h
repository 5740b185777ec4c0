// Declarations of the tests' C library. The structures are the target system's.
#ifndef BSD_H
#define BSD_H

typedef __SIZE_TYPE__ size_t;
typedef long ssize_t;
typedef long off_t;
typedef int pid_t;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
#define NULL ((void *)0)

// The first fields are the same on both systems.
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0x200
#define O_TRUNC 0x400
#define O_DIRECTORY 0x20000
#define AT_FDCWD (-100)
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 0x10
#define MAP_ANON 0x1000
#define MAP_FAILED ((void *)-1)
#define SIGABRT 6
#define SIGKILL 9
#define SIGSEGV 11
#define SIGCHLD 20
#define SIGPROF 27
#define SIGUSR1 30
#define SIGUSR2 31
#define SA_ONSTACK 1
#define SA_RESTART 2
#define SA_RESETHAND 4
#define SA_NODEFER 0x10
#define SA_SIGINFO 0x40
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
#define ITIMER_PROF 2
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define ENOEXEC 8
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EINVAL 22
#define ENOSYS 78

struct timespec { long tv_sec, tv_nsec; };
struct timeval { long tv_sec, tv_usec; };
struct itimerval { struct timeval it_interval, it_value; };
typedef struct { void *ss_sp; size_t ss_size; int ss_flags; } stack_t;

#ifdef __FreeBSD__
#include "freebsd.h"
#else
#include "openbsd.h"
#endif

int *__error(void);
#define errno (*__error())
extern char **environ;
extern const char *__progname;

void exit(int) __attribute__((noreturn));
void _exit(int) __attribute__((noreturn));
int atexit(void (*)(void));
const char *getprogname(void);
char *getenv(const char *);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int bcmp(const void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);

ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
ssize_t pwrite(int, const void *, size_t, off_t);
int open(const char *, int, ...);
int openat(int, const char *, int, ...);
int close(int);
int ftruncate(int, off_t);
off_t lseek(int, off_t, int);
int unlinkat(int, const char *, int);
int pipe2(int *, int);
int chdir(const char *);
void *mmap(void *, size_t, int, int, int, off_t);
int munmap(void *, size_t);
int mprotect(void *, size_t, int);
int minherit(void *, size_t, int);
pid_t fork(void);
pid_t vfork(void);
pid_t getpid(void);
pid_t getppid(void);
pid_t wait4(pid_t, int *, int, void *);
int execve(const char *, char *const *, char *const *);
int kill(pid_t, int);
int raise(int);
int sigaction(int, const struct sigaction *, struct sigaction *);
int sigprocmask(int, const sigset_t *, sigset_t *);
int sigsuspend(const sigset_t *);
int sigaltstack(const stack_t *, stack_t *);
int setitimer(int, const struct itimerval *, struct itimerval *);
int getitimer(int, struct itimerval *);
int nanosleep(const struct timespec *, struct timespec *);
int clock_gettime(int, struct timespec *);
int issetugid(void);

// Threads.
typedef struct thread *pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);

// Makes a call by number. Returns the kernel's result, and whether the carry flag was set.
long syscall_number(long number, long a, long b, long c, long d, int *carry);

#ifdef __aarch64__
#define TEST_CALL(number, a, b)                                                       \
    register u64 x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b; \
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory", "cc")
#else
#define TEST_CALL(number, a, b)                \
    u64 rax = number, rdi = a, rsi = b;         \
    __asm__ volatile("syscall" : "+a"(rax), "+D"(rdi), "+S"(rsi) : : "rcx", "r8", "r9", "r10", "r11", "memory", "cc")
#endif

// Requests ticks of the profiling clock at the address of the call. Only the tests' kernel has this call.
static inline __attribute__((always_inline)) void ticks(u64 count) { TEST_CALL(0x676d0001, count, 0); }

// Requests ticks at any address, which only profil(2) counts.
static inline void charge(u64 pc, u64 count) { TEST_CALL(0x676d0002, pc, count); }

// Requests ticks of which the interval-timer clock hears only at the end.
static inline __attribute__((always_inline)) void late_ticks(u64 count) { TEST_CALL(0x676d0004, count, 0); }

// Takes the time of ticks in the kernel. The profile has the ticks at the instruction after the call.
static inline __attribute__((always_inline)) void system_ticks(u64 count) { TEST_CALL(0x676d0005, count, 0); }

// Prints text on standard output.
void say(const char *);
void say_number(const char *, long);

// Prints the location of a failed check, and ends the process.
void failed(const char *, int) __attribute__((noreturn));
#define CHECK(what) ((what) ? (void)0 : failed(#what, __LINE__))

#endif
