// A profiled program that creates children of all kinds and executes programs in all ways. The argument selects the
// part for a test.
#include "bsd.h"

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

PART void leaf(void) { KEEP; }
PART void counted(u64 count) {
    ticks(count);
    KEEP;
}
PART void in_child(int calls) {
    for (int at = 0; at < calls; at++) leaf();
    counted(8128);
    KEEP;
}

static int status_of(pid_t child) {
    int status = -1;
    CHECK(child > 0 && wait4(child, &status, 0, NULL) == child);
    return status;
}

// A child of rfork with RFMEM continues on its own stack.
pid_t share(void);
char stack[16384] __attribute__((aligned(16)));
__asm__(".text; share: push %rbx; mov $0x34, %edi; call rfork; test %eax, %eax; jnz 1f;"
        "lea stack+16384(%rip), %rsp; call sharing_child; 1: pop %rbx; ret");
__attribute__((used)) static void sharing_child(void) {
    leaf();
    counted(10);
    _exit(7);
}

// Children with a copy of the memory: 1002 to 1006. Children with the same memory: 1007 and 1008.
static void kinds(void) {
    leaf();
    int descriptor;
    pid_t child = pdfork(&descriptor, 0);
    if (child == 0) {
        in_child(3);
        exit(0);
    }
    CHECK(status_of(child) == 0 && close(descriptor) == 0);
    static const int flags[] = {RFPROC | RFFDG, RFPROC | RFCFDG, RFPROC, RFPROC | RFTHREAD};
    for (int at = 0; at < 4; at++) {
        child = rfork(flags[at]);
        if (child == 0) {
            in_child(4 + at);
            _exit(0);
        }
        CHECK(status_of(child) == 0);
    }
    // Without RFPROC there is no child.
    CHECK(rfork(RFFDG) == 0 && getpid() == 1001);
    errno = 0;
    CHECK(rfork(RFFDG | RFCFDG | RFPROC) == -1 && errno == EINVAL);
    errno = 0;
    CHECK(rfork((int)(RFSPAWN | RFPROC)) == -1 && errno == EINVAL);
    child = rfork((int)RFSPAWN);
    if (child == 0) {
        leaf();
        _exit(6);
    }
    CHECK(status_of(child) == 6 << 8);
    CHECK(status_of(share()) == 7 << 8);
    leaf();
    counted(8128);
}

// Waits until a child that has the writing end of a pipe ends.
static int ends[2];
static void await_end(void) {
    char text;
    CHECK(close(ends[1]) == 0 && read(ends[0], &text, 1) == 0 && close(ends[0]) == 0);
}
static void on_signal(int signal) { (void)signal; }

// Children with a copy of the memory: 1002 to 1006; 1007, which is killed; 1008, of which the runtime does not know.
// 1009 shares memory.
static void more_kinds(void) {
    static const u32 flags[] = {RFSIGSHARE, RFTSIGZMB, RFLINUXTHPN};
    static const u32 options[] = {0, WLINUXCLONE, WLINUXCLONE};
    struct sigaction action = {.sa_handler = on_signal};
    int status, descriptor;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    leaf();
    for (int at = 0; at < 3; at++) {
        pid_t child = rfork((int)(RFPROC | RFFDG | flags[at]));
        if (child == 0) {
            in_child(3 + at);
            exit(0);
        }
        CHECK(wait4(child, &status, (int)options[at], NULL) == child && status == 0);
    }
    CHECK(pipe2(ends, 0) == 0);
    if (rfork(RFPROC | RFFDG | RFNOWAIT) == 0) {
        in_child(6);
        exit(0);
    }
    await_end();
    // A child that lives on without descriptor, and a child that does not.
    for (int is_daemon = 1; is_daemon >= 0; is_daemon--) {
        int go[2];
        char text;
        CHECK(pipe2(ends, 0) == 0 && pipe2(go, 0) == 0);
        if (pdfork(&descriptor, is_daemon ? PD_DAEMON : 0) == 0) {
            CHECK(close(go[1]) == 0 && read(go[0], &text, 1) == 0);
            in_child(7);
            exit(0);
        }
        CHECK(close(descriptor) == 0);
        if (!is_daemon) await_end();
        CHECK(close(go[0]) == 0 && close(go[1]) == 0);
        if (is_daemon) await_end();
    }
    pid_t child = pdrfork(&descriptor, 0, RFPROC | RFPROCDESC | RFFDG);
    if (child == 0) {
        in_child(9);
        exit(0);
    }
    CHECK(status_of(child) == 0 && close(descriptor) == 0);
    child = pdrfork(&descriptor, 0, (int)RFSPAWN);
    if (child == 0) {
        leaf();
        _exit(6);
    }
    CHECK(status_of(child) == 6 << 8 && close(descriptor) == 0);
    leaf();
    counted(8128);
}

static char *nothing[] = {NULL};
// The program is in the current directory, which is the empty last entry.
static char *with_path[] = {(char *)"PATH=/nowhere:/etc/passwd:", NULL};
#define MORE "a", "b", "c", "d", "e", "f", NULL

static void execute(const char *by, char *path) {
    char *arguments[] = {path, (char *)"nothing", NULL};
    environ = with_path;
    if (!strcmp(by, "execve")) execve(path, arguments, nothing);
    if (!strcmp(by, "execv")) execv(path, arguments);
    if (!strcmp(by, "execvp")) execvp("children", arguments);
    if (!strcmp(by, "execvp /")) execvp(path, arguments);
    if (!strcmp(by, "execvpe")) execvpe("children", arguments, nothing);
    if (!strcmp(by, "execvP")) execvP("children", "/nowhere::/", arguments);
    if (!strcmp(by, "execl")) execl(path, path, "nothing", MORE);
    if (!strcmp(by, "execle")) execle(path, path, "nothing", MORE, nothing);
    if (!strcmp(by, "execlp")) execlp("children", path, "nothing", MORE);
    if (!strcmp(by, "fexecve")) fexecve(open(path, O_RDONLY), arguments, nothing);
    if (!strcmp(by, "in libc")) execute_in_libc(path, arguments);
    _exit(1);
}

static void executes(char *path) {
    static const char *const ways[] = {"execve", "execv",  "execvp", "execvp /", "execvpe", "execvP",
                                       "execl",  "execle", "execlp", "fexecve",  "in libc"};
    for (u64 at = 0; at < sizeof ways / sizeof ways[0]; at++) {
        pid_t child = fork();
        if (child == 0) {
            counted(200);
            execute(ways[at], path);
        }
        int status = status_of(child);
        if (status != 5 << 8) say(ways[at]);
        CHECK(status == 5 << 8);
    }
}

// A signal that is pending must not wait for the new program.
static void executes_blocked(char *path) {
    char *arguments[] = {path, (char *)"unblocks", NULL};
    sigset_t all;
    memset(&all, 255, sizeof all);
    CHECK(sigprocmask(SIG_BLOCK, &all, NULL) == 0);
    counted(200);
    execve(path, arguments, nothing);
}

// Calls that execute nothing leave the program sampled.
static void fails(char *path) {
    char *arguments[] = {path, NULL}, long_path[2000];
    environ = with_path;
    CHECK(execvp("not here", arguments) == -1 && errno == ENOENT);
    CHECK(execvp("", arguments) == -1 && errno == ENOENT);
    CHECK(execlp("/not/here", path, NULL) == -1 && errno == ENOENT);
    // A file that is no program is a script for the shell, which is a program of Linux.
    CHECK(execvp("record", arguments) == -1 && errno == ENOEXEC);
    CHECK(execl("record", path, NULL) == -1 && errno == ENOEXEC);
    CHECK(fexecve(-1, arguments, nothing) == -1 && errno == EBADF);
    memset(long_path, 'x', sizeof long_path);
    long_path[1999] = 0;
    CHECK(execvP("not here", long_path, arguments) == -1 && errno == ENOENT);
    counted(8128);
}

static void confines(char *path) {
    char *arguments[] = {path, (char *)"nothing", NULL};
    int program = open(path, O_RDONLY);
    CHECK(program >= 0 && cap_enter() == 0);
    fexecve(program, arguments, nothing);
}

static int executed(int argc, char **argv) {
    static const char *const more[] = {MORE};
    CHECK(argc == 2 || argc == 8);
    for (int at = 2; at < argc; at++) CHECK(!strcmp(argv[at], more[at - 2]));
    if (!strcmp(argv[1], "unblocks")) {
        sigset_t all;
        memset(&all, 255, sizeof all);
        CHECK(sigprocmask(SIG_UNBLOCK, &all, NULL) == 0);
    }
    // Long enough for a timer of the previous program to expire.
    counted(300);
    return 5;
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    const char *part = argv[1];
    if (!strcmp(part, "nothing") || !strcmp(part, "unblocks")) return executed(argc, argv);
    if (!strcmp(part, "kinds")) kinds();
    if (!strcmp(part, "more_kinds")) more_kinds();
    if (!strcmp(part, "executes")) executes(argv[0]);
    if (!strcmp(part, "executes_blocked")) executes_blocked(argv[0]);
    if (!strcmp(part, "fails")) fails(argv[0]);
    if (!strcmp(part, "confines")) confines(argv[0]);
    if (!strcmp(part, "sleeps")) CHECK(nanosleep(&(struct timespec){20, 0}, NULL) == 0);
    if (!strcmp(part, "works")) counted(8128 / 2);
    return 0;
}
