// System calls of OpenBSD: conventions, signals, stacks, threads. With an argument, the program makes a call that ends
// the process.
#include "bsd.h"

static volatile u64 pc_seen, argument_seen;
static volatile int calls;
static void on_signal(int signal, siginfo_t *info, void *context) {
    calls++;
    pc_seen = CONTEXT_PC(context);
    argument_seen = (u64)info->si_pid;
    CHECK(signal == SIGUSR1 && info->si_signo == SIGUSR1 && info->si_code == 0);
    sigset_t now;
    CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && now == (1u << (SIGUSR1 - 1) | 1u << (SIGUSR2 - 1)));
}

static void *run(void *argument) {
    CHECK(write(-1, "", 1) == -1 && errno == EBADF);
    return (char *)argument + getthrid();
}

static char memory[5 * 4096] __attribute__((aligned(4096)));

static volatile u64 sp_in_handler;
static void on_stack(int signal) {
    // A system call in the handler: the stack pointer must be in memory of MAP_STACK.
    stack_t other = {memory, sizeof memory, 0};
    sp_in_handler = (u64)&other;
    CHECK(sigaltstack(&other, NULL) == -1 && errno == EPERM);
    CHECK(sigaltstack(NULL, &other) == 0 && other.ss_flags == 1);
    (void)signal;
}

// Alternate stacks have at least 12288 bytes of readable and writable memory, and the kernel replaces their whole pages
// by zeros.
static void stacks(void) {
    stack_t alternate = {memory, 12287, 0};
    CHECK(sigaltstack(&alternate, NULL) == -1 && errno == ENOMEM);
    memory[100] = memory[4096] = memory[sizeof memory - 1] = 1;
    alternate = (stack_t){memory + 50, sizeof memory - 51, 0};
    CHECK(sigaltstack(&alternate, NULL) == 0);
    CHECK(memory[100] == 1 && memory[4096] == 0 && memory[sizeof memory - 1] == 1);
    struct sigaction action = {.sa_handler = on_stack, .sa_flags = SA_ONSTACK};
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0 && raise(SIGUSR2) == 0);
    CHECK(sp_in_handler > (u64)memory && sp_in_handler < (u64)memory + 4 * 4096);

    char *hole = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    CHECK(munmap(hole + 2 * 4096, 4096) == 0);
    alternate = (stack_t){hole, 5 * 4096, 0};
    CHECK(sigaltstack(&alternate, NULL) == -1 && errno == EINVAL);
    CHECK(sigaltstack(NULL, &alternate) == 0 && alternate.ss_sp == memory + 50);
    // Stacks of mmap.
    const int plain = MAP_STACK | MAP_PRIVATE | MAP_ANON;
    CHECK(mmap(NULL, 4096, PROT_READ, plain, -1, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, plain | MAP_CONCEAL, -1, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_STACK | MAP_SHARED | MAP_ANON, -1, 0) == MAP_FAILED);
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, plain, -1, 0) != MAP_FAILED);
}

static void on_forge(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    *(u64 *)((char *)context + 224) ^= 1; // sc_cookie
}

// The child of a vfork has a copy of the memory, and the parent sleeps until the child ends or executes a program.
static volatile int of_child;
static void by_vfork(void) {
    pid_t child = vfork();
    if (child == 0) {
        of_child = 1;
        nanosleep(&(struct timespec){1, 0}, NULL);
        _exit(5);
    }
    int status = 0;
    CHECK(of_child == 0 && wait4(child, &status, 1 /* WNOHANG */, NULL) == child && status == 5 << 8);
}

int main(int argc, char **argv) {
    CHECK(!strcmp(getprogname(), "openbsd_calls") && write(1234, "", 0) == -1 && errno == EBADF);
    struct clockinfo rates;
    size_t size = sizeof rates;
    const int name[] = {1, 12};
    CHECK(sysctl(name, 2, &rates, &size, NULL, 0) == 0 && size == 16 && rates.hz == 100 && rates.profhz == 1000);

    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO, .sa_mask = 1u << (SIGUSR2 - 1)}, old;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGUSR1, NULL, &old) == 0);
    CHECK(old.sa_sigaction == on_signal && old.sa_flags == SA_SIGINFO && old.sa_mask == action.sa_mask);
    CHECK(kill(getpid(), SIGUSR1) == 0 && calls == 1 && pc_seen - (u64)kill < 32 && argument_seen == (u64)getpid());

    pthread_t thread;
    void *result;
    errno = 0;
    CHECK(pthread_create(&thread, NULL, run, NULL) == 0 && pthread_join(thread, &result) == 0);
    CHECK((long)result > getthrid() && errno == 0);

    CHECK(mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANON, -1, 0) == MAP_FAILED);
    // Loaded segments are immutable.
    CHECK(mprotect(memory, 4096, PROT_READ) == -1 && errno == EPERM);
    char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    CHECK(mimmutable(pages, 4096) == 0 && mprotect(pages, 4096, PROT_READ) == -1 && errno == EPERM);
    CHECK(mprotect(pages + 4096, 4096, PROT_READ) == 0 && munmap(pages, 2 * 4096) == -1 && errno == EPERM);
    stacks();
    by_vfork();

    if (argc == 1) return 3;
    if (!strcmp(argv[1], "stack")) {
        char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
        __asm__ volatile("mov %0, %%rsp; call getpid" : : "r"(pages + 2 * 4096) : "memory");
    }
    if (!strcmp(argv[1], "cookie")) {
        struct sigaction forges = {.sa_sigaction = on_forge, .sa_flags = SA_SIGINFO};
        CHECK(sigaction(SIGUSR2, &forges, NULL) == 0);
        raise(SIGUSR2);
    }
    if (!strcmp(argv[1], "unpinned")) {
        int carry;
        syscall_number(20, 0, 0, 0, 0, &carry);
    }
    CHECK(pledge("stdio nonsense", NULL) == -1 && errno == EINVAL);
    CHECK(pledge("stdio rpath", NULL) == 0 && open("nothing", O_RDONLY) == -1);
    CHECK(pledge("stdio proc", NULL) == -1 && errno == EPERM && pledge("stdio", NULL) == 0);
    if (!strcmp(argv[1], "open")) open("nothing", O_RDONLY);
    if (!strcmp(argv[1], "fork")) fork();
    return 4;
}
