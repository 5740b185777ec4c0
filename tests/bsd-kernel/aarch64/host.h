// A host program for Linux on AArch64, which runs a static FreeBSD program for arm64 in its own process. The host
// replaces each `svc` of the program by an undefined instruction, and serves the calls in the handler of SIGILL. The
// host uses no C library, because the thread pointer belongs to the program.
#ifndef HOST_H
#define HOST_H

typedef __SIZE_TYPE__ size_t;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
#define NULL ((void *)0)

// Linux's system calls.
enum {
    L_DUP3 = 24, L_FCNTL = 25, L_MKDIRAT = 34, L_UNLINKAT = 35, L_RENAMEAT = 38, L_FTRUNCATE = 46, L_FALLOCATE = 47, L_FACCESSAT = 48, L_CHDIR = 49,
    L_OPENAT = 56, L_CLOSE = 57, L_PIPE2 = 59, L_LSEEK = 62, L_READ = 63, L_WRITE = 64, L_PREAD = 67, L_PWRITE = 68, L_READLINKAT = 78, L_FSTATAT = 79,
    L_FSTAT = 80, L_EXIT = 93, L_EXIT_GROUP = 94, L_FUTEX = 98, L_CLOCK_GETTIME = 113, L_YIELD = 124,
    L_TGKILL = 131, L_SIGALTSTACK = 132, L_SIGACTION = 134, L_SETSID = 157, L_UMASK = 166, L_GETPID = 172, L_GETPPID = 173, L_GETUID = 174, L_GETEUID = 175,
    L_GETTID = 178, L_MUNMAP = 215, L_CLONE = 220, L_EXECVE = 221, L_MMAP = 222, L_MPROTECT = 226, L_WAIT4 = 260, L_FLOCK = 32
};
long linux_call(long number, long a, long b, long c, long d, long e, long f);
#define LINUX(number, a, b, c, d) linux_call(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

#define AT_FDCWD (-100)

// The registers in a Linux signal context.
struct registers { u64 fault, x[31], sp, pc, state; };
#define CARRY (1ul << 29)
// struct fpsimd_context: header, status, control, and 32 vector registers.
#define VECTORS 528

// The program's file and arguments (load.c).
struct program { char *host, *emulator; const char *path; char **argv; u64 entry, headers, header_count; };
u64 load(struct program *);
extern struct program program;

// The instruction in the place of `svc #0`.
#define UNDEFINED 0x474d
// The serving of calls (calls.c): returns a value, or a negative error number of Linux.
long serve(struct registers *, u64 number);
// Results of `serve` that leave the registers alone.
#define SWITCHED (-5000)

// Linux's signal that makes another thread deliver its pending signals.
#define KICK 10

// Signals (signals.c).
long set_action(u64 signal, const void *new, void *old);
long change_mask(u64 how, const u32 *set, u32 *old);
long send(u64 signal);
long send_to(u64 thread, u64 signal);
long return_from_handler(struct registers *, u8 *vectors);
void deliver(struct registers *, u8 *vectors);
void pending_set(u32 *);
void forget_thread(void);
void forget_other_threads(u32 parent);
int *own_flag(void);

// profil(2) (profil.c).
long start_profil(u64 buffer, u64 size, u64 offset, u64 scale);
void charge(u64 pc, u64 count);

// Time (time.c).
long read_clock(u64 which, u64 *time);
long sleep_for(const u64 *time);
void tick(u64 pc, u64 count);
void forget_time(void);
void expect_thread(int count);
void expect_nothing(void);

// Processes and threads (threads.c).
void use_handler_stack(void);
long new_thread(const u64 *parameters);
void end_thread(u32 *state) __attribute__((noreturn));
long new_process(void);
long execute(const char *path, char *const *arguments, char *const *environment);
long inherit(u64 address, u64 length, u64 how);
long wait_for(u64 which, int *status, u64 options);
long wait_on_word(u64 word, u64 operation, u64 value);

void *memset(void *to, int byte, size_t size);
void copy(void *to, const void *from, size_t size);
void complain(const char *what, u64 number);
void die(const char *what, u64 number) __attribute__((noreturn));

#endif
