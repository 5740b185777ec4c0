// fork, vfork, rfork, pdfork, exec, wait4, and the state of profil(2) after each call.
#include "bsd.h"

static u16 bins[8];
static volatile int shared;
#define START 0x10000000ul

static int status_of(pid_t child) {
    int status = -1;
    CHECK(wait4(child, &status, 0, NULL) == child);
    return status;
}

static void by_fork(void) {
    memset(bins, 0, sizeof bins);
    CHECK(profil((char *)bins, sizeof bins, START, 65536) == 0);
    charge(START, 3);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        CHECK(getpid() != parent && getppid() == parent);
        charge(START, 4);
        _exit(bins[0] == 7 ? 3 : 4);
    }
    CHECK(child > 0 && status_of(child) == 3 << 8);
    CHECK(bins[0] == 3);
    CHECK(wait4(-1, NULL, 0, NULL) == -1 && errno == 10);
}

static void by_vfork(void) {
    pid_t child = vfork();
    if (child == 0) {
        charge(START, 5);
        shared = 1;
        _exit(0);
    }
    // The parent waited for the vfork child; the child's ticks are in the parent's buffer.
    CHECK(child > 0 && shared == 1 && bins[0] == 8);
    CHECK(status_of(child) == 0);
}

// A child that shares the parent's memory needs its own stack.
static char stack[4096];
static void with_shared_memory(void) {
    u64 rax = 251, rdi = RFPROC | RFFDG | RFMEM;
    __asm__ volatile("syscall; jc 1f; test %%eax, %%eax; jnz 1f; lea %[top], %%rsp; and $-16, %%rsp; call of_child; 1:"
                     : "+a"(rax), "+D"(rdi)
                     : [top] "m"(stack[4096])
                     : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
    CHECK(status_of((pid_t)rax) == 6 << 8);
    CHECK(shared == 2 && bins[0] == 14);
}
__attribute__((used)) static void of_child(void) {
    charge(START, 6);
    shared = 2;
    _exit(6);
}

// As vfork, but the child has no handlers. The child continues in this frame.
static void on_signal(int signal) { (void)signal; }
__attribute__((noreturn, noinline)) static void spawned(void) {
    struct sigaction action;
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0);
    shared = 3;
    _exit(action.sa_handler == NULL ? 8 : 1);
}
static void by_spawn(void) {
    struct sigaction action = {.sa_handler = on_signal}, after;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    u64 rax = 251, rdi = RFSPAWN;
    __asm__ volatile("syscall" : "+a"(rax), "+D"(rdi) : : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
    if (rax == 0) spawned();
    CHECK(shared == 3 && status_of((pid_t)rax) == 8 << 8);
    CHECK(sigaction(SIGUSR1, NULL, &after) == 0 && after.sa_handler == on_signal);
    int carry;
    CHECK(syscall_number(251, RFSPAWN | RFPROC, 0, 0, 0, &carry) == EINVAL && carry);
}

// Without RFPROC the call changes the process itself.
static void without_child(void) {
    pid_t child = fork();
    if (child == 0) {
        pid_t self = getpid();
        CHECK(rfork(RFFDG) == 0 && getpid() == self);
        // Now the process has no descriptors.
        CHECK(rfork(RFCFDG) == 0 && getpid() == self && write(1, "", 0) == -1 && errno == EBADF);
        _exit(4);
    }
    CHECK(status_of(child) == 4 << 8);
}

static volatile int got;
static void count(int signal) {
    (void)signal;
    got++;
}
static void catch(int signal) {
    struct sigaction action = {.sa_handler = count};
    CHECK(sigaction(signal, &action, NULL) == 0);
    got = 0;
}

// Flags that the kernel does not have, has for itself, or does not accept together.
static void refused_flags(void) {
    static const u32 flags[] = {
        RFPROC | 1, RFPROC | 2, RFPROC | 8, RFPROC | 0x80, RFPROC | 0x400, RFPROC | 0x800, RFPROC | 0x8000,
        RFPROC | RFSTOPPED, RFPROC | RFHIGHPID, RFPROC | RFPROCDESC, RFPROC | RFFDG | RFCFDG, RFPROC | RFSPAWN, RFFDG | RFCFDG,
        RFPROC | RFTSIGFLAGS(SIGUSR1), RFPROC | RFTSIGZMB | RFTSIGFLAGS(129),
    };
    for (u64 at = 0; at < sizeof flags / sizeof flags[0]; at++) {
        int carry;
        CHECK(syscall_number(251, flags[at], 0, 0, 0, &carry) == EINVAL && carry);
    }
}

// What a child does that shares something.
static void shares(void) {
    int ends[2];
    CHECK(pipe2(ends, 0) == 0);
    pid_t child = rfork(RFPROC);
    if (child == 0) _exit(close(ends[1]));
    CHECK(status_of(child) == 0 && close(ends[1]) == -1 && errno == EBADF);
    child = rfork(RFPROC | RFFDG | RFTHREAD);
    if (child == 0) _exit(close(ends[0]));
    CHECK(status_of(child) == 0 && close(ends[0]) == 0);
    child = rfork(RFPROC | RFCFDG);
    if (child == 0) _exit(write(1, "", 0) == -1 && errno == EBADF ? 3 : 0);
    CHECK(status_of(child) == 3 << 8);
    // The child's handler is the parent's, until one of them executes a program.
    struct sigaction default_action = {.sa_handler = NULL}, after;
    for (u32 shared = 0; shared <= RFSIGSHARE; shared += RFSIGSHARE) {
        CHECK(sigaction(SIGUSR1, &default_action, NULL) == 0);
        child = rfork((int)(RFPROC | RFFDG | shared));
        if (child == 0) {
            catch(SIGUSR1);
            _exit(0);
        }
        CHECK(status_of(child) == 0 && sigaction(SIGUSR1, NULL, &after) == 0);
        CHECK(after.sa_handler == (shared ? count : NULL));
    }
}

// The signal of a child's end, and who waits for the child.
static void ends(void) {
    static const struct { u32 flags; int signal; u32 options; } kinds[] = {
        {0, SIGCHLD, 0},
        {RFLINUXTHPN, SIGUSR1, WLINUXCLONE},
        {RFTSIGZMB | RFTSIGFLAGS(SIGUSR2), SIGUSR2, WLINUXCLONE},
        {RFTSIGZMB | RFLINUXTHPN | RFTSIGFLAGS(SIGCHLD), SIGCHLD, 0},
    };
    int status;
    for (u64 at = 0; at < sizeof kinds / sizeof kinds[0]; at++) {
        catch(kinds[at].signal);
        pid_t child = rfork((int)(RFPROC | RFFDG | kinds[at].flags));
        if (child == 0) _exit(7);
        CHECK(wait4(child, &status, (int)(kinds[at].options ^ WLINUXCLONE), NULL) == -1 && errno == 10);
        CHECK(wait4(child, &status, (int)kinds[at].options, NULL) == child && status == 7 << 8 && got == 1);
    }
    catch(SIGCHLD);
    pid_t child = rfork(RFPROC | RFFDG | RFTSIGZMB);
    if (child == 0) _exit(7);
    CHECK(wait4(-1, &status, (int)WLINUXCLONE, NULL) == child && got == 0);
    // Nobody waits for a child of init.
    int pipe[2];
    char text;
    CHECK(pipe2(pipe, 0) == 0);
    child = rfork(RFPROC | RFFDG | RFNOWAIT);
    if (child == 0) {
        CHECK(getppid() == 1);
        _exit(0);
    }
    CHECK(wait4(child, &status, 0, NULL) == -1 && errno == 10 && close(pipe[1]) == 0);
    CHECK(read(pipe[0], &text, 1) == 0 && got == 0 && close(pipe[0]) == 0);
}

int fcntl(int, int, ...);
#define F_GETFD 1
// A child waits until its parent writes to a pipe, and then exits with what it read.
static int to_child[2], from_child[2];
static void pipes(void) { CHECK(pipe2(to_child, 0) == 0 && pipe2(from_child, 0) == 0); }
static void waits(void) {
    char text = 0;
    close(to_child[1]);
    CHECK(read(to_child[0], &text, 1) == 1 && write(from_child[1], &text, 1) == 1);
    _exit(text);
}
static void end_of_pipes(int is_alive) {
    char text = 0;
    CHECK(close(from_child[1]) == 0);
    if (is_alive) CHECK(write(to_child[1], "x", 1) == 1 && read(from_child[0], &text, 1) == 1 && text == 'x');
    CHECK(read(from_child[0], &text, 1) == 0);
    CHECK(close(to_child[0]) == 0 && close(to_child[1]) == 0 && close(from_child[0]) == 0);
}

static void descriptor_flags(void) {
    int fd, carry, status;
    CHECK(syscall_number(518, (long)&fd, 4, 0, 0, &carry) == EINVAL && carry);
    for (int flags = 0; flags <= (PD_DAEMON | PD_CLOEXEC); flags++) {
        pipes();
        catch(SIGCHLD);
        pid_t child = pdfork(&fd, flags), found = 0;
        if (child == 0) waits();
        CHECK(pdgetpid(fd, &found) == 0 && found == child && fcntl(fd, F_GETFD) == (flags & PD_CLOEXEC) / PD_CLOEXEC);
        // A wait for any child does not find the child.
        CHECK(wait4(-1, &status, WNOHANG, NULL) == -1 && errno == 10 && wait4(child, &status, WNOHANG, NULL) == 0);
        CHECK(close(fd) == 0);
        // The end of the last descriptor ends the child, except with PD_DAEMON. Then, the child is a child of init.
        end_of_pipes(flags & PD_DAEMON);
        CHECK(wait4(child, &status, 0, NULL) == -1 && errno == 10 && got == 0);
    }
}

static volatile int spawned_by_pdrfork;
__attribute__((noreturn, noinline)) static void spawned_child(void) {
    spawned_by_pdrfork = 1;
    _exit(5);
}
static void by_pdrfork(void) {
    static const u32 refused[] = {
        0, RFPROC, RFPROCDESC, RFPROC | RFSPAWN, RFPROC | RFPROCDESC | RFSTOPPED, RFPROC | RFPROCDESC | RFFDG | RFCFDG,
    };
    int fd, carry, status;
    for (u64 at = 0; at < sizeof refused / sizeof refused[0]; at++)
        CHECK(syscall_number(600, (long)&fd, 0, refused[at], 0, &carry) == EINVAL && carry);
    CHECK(syscall_number(600, (long)&fd, 4, RFPROC | RFPROCDESC, 0, &carry) == EINVAL && carry);
    pid_t child = pdrfork(&fd, PD_CLOEXEC, RFPROC | RFPROCDESC | RFCFDG);
    if (child == 0) _exit(write(1, "", 0) == -1 && errno == EBADF ? 6 : 0);
    CHECK(child > 0 && fcntl(fd, F_GETFD) == 1 && status_of(child) == 6 << 8 && close(fd) == 0);
    child = pdrfork(&fd, 0, (int)RFSPAWN);
    if (child == 0) spawned_child();
    CHECK(child > 0 && spawned_by_pdrfork && wait4(child, &status, 0, NULL) == child && status == 5 << 8 && close(fd) == 0);
}

static void by_pdfork(void) {
    int fd = -1;
    pid_t child = pdfork(&fd, 0);
    if (child == 0) _exit(9);
    CHECK(child > 0 && fd > 2 && status_of(child) == 9 << 8 && close(fd) == 0);
}

static void by_signal(void) {
    pid_t child = fork();
    if (child == 0) {
        kill(getpid(), SIGKILL);
        _exit(1);
    }
    CHECK(status_of(child) == SIGKILL);
    child = fork();
    if (child == 0) {
        *(volatile int *)16 = 1;
        _exit(1);
    }
    CHECK(status_of(child) == SIGSEGV);
}

static void files(void) {
    int ends[2];
    char text[4] = "";
    CHECK(pipe2(ends, 0) == 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK(close(ends[0]) == 0);
        nanosleep(&(struct timespec){1, 0}, NULL);
        CHECK(write(ends[1], "abc", 3) == 3);
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    // The child writes later: the read waits.
    CHECK(read(ends[0], text, 4) == 3 && !strcmp(text, "abc"));
    CHECK(read(ends[0], text, 4) == 0);
    CHECK(status_of(child) == 0);
}

static int executed(char **argv) {
    char *const none[] = {NULL};
    CHECK(!strcmp(argv[2], "word") && !environ[0]);
    CHECK(execve("/nowhere", argv, none) == -1 && errno == 2);
    // exec stopped profil, because the new program may use the buffer's address for something else.
    charge(START, 1);
    CHECK(bins[0] == 0);
    struct itimerval timer;
    CHECK(getitimer(ITIMER_PROF, &timer) == 0 && timer.it_value.tv_sec == 50);
    return 11;
}

int main(int argc, char **argv) {
    if (argc > 1) return executed(argv);
    by_fork();
    by_vfork();
    with_shared_memory();
    by_spawn();
    without_child();
    refused_flags();
    shares();
    ends();
    by_pdfork();
    descriptor_flags();
    by_pdrfork();
    by_signal();
    files();
    pid_t child = vfork();
    if (child == 0) {
        char *const arguments[] = {argv[0], "again", "word", NULL}, *const none[] = {NULL};
        struct itimerval timer = {{0, 0}, {50, 0}};
        setitimer(ITIMER_PROF, &timer, NULL);
        execve(argv[0], arguments, none);
        _exit(1);
    }
    CHECK(status_of(child) == 11 << 8);
    child = fork();
    if (child == 0) {
        char *const arguments[] = {argv[0], "again", "word", NULL}, *const none[] = {NULL};
        struct itimerval timer = {{0, 0}, {50, 0}};
        setitimer(ITIMER_PROF, &timer, NULL);
        int program = open(argv[0], O_RDONLY);
        CHECK(fexecve(program + 100, arguments, none) == -1 && errno == EBADF);
        fexecve(program, arguments, none);
        _exit(1);
    }
    CHECK(status_of(child) == 11 << 8);
    return 0;
}
