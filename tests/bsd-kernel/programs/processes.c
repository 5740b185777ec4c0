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
    by_pdfork();
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
