// Structures of OpenBSD 7.8.
#define O_CLOEXEC 0x10000
#define CLOCK_REALTIME 0
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_MONOTONIC 3
#define ENOTDIR 20
#define EALREADY 37
#define MAP_STACK 0x4000
#define MAP_CONCEAL 0x8000
#define __error __errno

typedef u32 sigset_t;
typedef struct {
    int si_signo, si_code, si_errno, padding;
    int si_pid;
    u32 si_uid;
    void *si_value;
    long spare[13];
} siginfo_t;
struct sigaction {
    union { void (*sa_handler)(int); void (*sa_sigaction)(int, siginfo_t *, void *); };
    sigset_t sa_mask;
    int sa_flags;
};
struct stat {
    u32 st_mode;
    int st_dev;
    u64 st_ino;
    u32 st_nlink, st_uid, st_gid;
    int st_rdev;
    struct timespec st_atim, st_mtim, st_ctim;
    long st_size, st_blocks;
    int st_blksize;
    u32 st_flags, st_gen, padding;
    struct timespec st_birthtim;
};
struct clockinfo { int hz, tick, stathz, profhz; };
struct rlimit { u64 rlim_cur, rlim_max; };
struct gmonhdr {
    u64 lpc, hpc;
    int ncnt, version, profrate, totarc, spare[2];
};

// Parts of an executable file.
struct header { char ident[16]; u16 type, machine; u32 version; u64 entry, phoff, shoff; u32 flags; u16 ehsize, phentsize, phnum; };
struct phdr { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; };

// The C library's work before the constructors: environ, __progname, and the first thread's block.
void _libc_initialize(int argc, char **argv, char **env, const struct phdr *headers, u64 number);

int fstat(int, struct stat *);
int fstatat(int, const char *, struct stat *, int);
int profil(void *, size_t, size_t, u64, u32, int);
u32 getuid(void);
u32 umask(u32);
int chroot(const char *);
int unveil(const char *, const char *);
int setresuid(u32, u32, u32);
#define RLIMIT_FSIZE 1
int setrlimit(int, const struct rlimit *);
int pledge(const char *, const char *);
int sysctl(const int *, u32, void *, size_t *, const void *, size_t);
int getthrid(void);
int thrkill(int, int, void *);
int mimmutable(void *, size_t);
// The pc and the stack pointer in the context, the third argument of a handler.
#define CONTEXT_PC(context) (*(u64 *)((char *)(context) + 168))
#define CONTEXT_SP(context) (*(u64 *)((char *)(context) + 192))
