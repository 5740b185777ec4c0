// Structures of FreeBSD 14.
#define O_CLOEXEC 0x100000
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 4
#define CLOCK_PROCESS_CPUTIME_ID 15
#define SIGEV_SIGNAL 1
#define SIGEV_THREAD_ID 4
#define RFFDG 4
#define RFPROC 0x10
#define RFMEM 0x20
#define RFNOWAIT 0x40
#define RFCFDG 0x1000
#define RFTHREAD 0x2000
#define RFSIGSHARE 0x4000
#define RFLINUXTHPN 0x10000
#define RFSTOPPED 0x20000
#define RFHIGHPID 0x40000
#define RFTSIGZMB 0x80000
#define RFTSIGFLAGS(signal) ((signal) << 20)
#define RFPROCDESC 0x10000000
#define RFSPAWN 0x80000000u
#define PD_DAEMON 1
#define PD_CLOEXEC 2
#define WNOHANG 1
#define WLINUXCLONE 0x80000000u
#define ECAPMODE 94

typedef struct { u32 bits[4]; } sigset_t;
typedef struct {
    int si_signo, si_errno, si_code, si_pid;
    u32 si_uid;
    int si_status;
    void *si_addr;
    void *si_value;
    int si_timerid, si_overrun;
    long spare[4];
} siginfo_t;
struct sigaction {
    union { void (*sa_handler)(int); void (*sa_sigaction)(int, siginfo_t *, void *); };
    int sa_flags;
    sigset_t sa_mask;
};
struct stat {
    u64 st_dev, st_ino, st_nlink;
    u16 st_mode, padding0;
    u32 st_uid, st_gid, padding1;
    u64 st_rdev;
    struct timespec st_atim, st_mtim, st_ctim, st_birthtim;
    long st_size, st_blocks;
    int st_blksize;
    u32 st_flags;
    u64 st_gen, spare[10];
};
struct clockinfo { int hz, tick, spare, stathz, profhz; };
struct itimerspec { struct timespec it_interval, it_value; };
struct dl_phdr_info {
    u64 dlpi_addr;
    const char *dlpi_name;
    const void *dlpi_phdr;
    u16 dlpi_phnum;
    u64 dlpi_adds, dlpi_subs, dlpi_tls_modid;
    void *dlpi_tls_data;
};

int fstat(int, struct stat *);
int fstatat(int, const char *, struct stat *, int);
int profil(char *, size_t, u64, u32);
pid_t rfork(int) __attribute__((returns_twice));
pid_t pdfork(int *, int);
pid_t pdrfork(int *, int, int) __attribute__((returns_twice));
int pdgetpid(int, pid_t *);
int fexecve(int, char *const *, char *const *);
int execv(const char *, char *const *);
int execvp(const char *, char *const *);
int execvpe(const char *, char *const *, char *const *);
int execvP(const char *, const char *, char *const *);
int execl(const char *, const char *, ...);
int execle(const char *, const char *, ...);
int execlp(const char *, const char *, ...);
int execute_in_libc(const char *, char *const *);
int cap_enter(void);
int chroot(const char *);
int sysctl(const int *, u32, void *, size_t *, const void *, size_t);
int __sysctlbyname(const char *, size_t, void *, size_t *, const void *, size_t);
int thr_self(long *);
void thr_exit(long *);
int thr_kill(long, int);
int ktimer_create(int, const void *, int *);
int ktimer_settime(int, int, const struct itimerspec *, struct itimerspec *);
int ktimer_delete(int);
int dl_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *);
// The pc and the stack pointer in the context, the third argument of a handler.
#define CONTEXT_PC(context) (*(u64 *)((char *)(context) + 176))
#define CONTEXT_SP(context) (*(u64 *)((char *)(context) + 200))
