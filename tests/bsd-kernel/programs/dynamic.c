// A program for OpenBSD that was linked without -static: ld.so runs the constructors once, and nothing is profiled.
#include "bsd.h"

__asm__(".pushsection .note.openbsd.profil,\"a\",@note; .balign 4; .long 8, 0, 2; .asciz \"OpenBSD\"; .popsection");

void moncontrol(int);
void gmon_dump(void);
void monstartup(u64, u64);

static volatile int calls;
__attribute__((noinline)) static void leaf(void) { calls++; }

static int preinitialized, constructed;
static void preinitialize(void) { preinitialized++; }
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = preinitialize;
__attribute__((constructor)) static void constructor(void) {
    constructed++;
    leaf();
    say("constructor\n");
}
__attribute__((destructor)) static void destructor(void) {
    leaf();
    say("destructor\n");
}
static void at_exit(void) { say("atexit\n"); }

int main(int argc, char **argv) {
    CHECK(preinitialized == 1 && constructed == 1 && !strcmp(getprogname(), "dynamic"));
    CHECK(atexit(at_exit) == 0);
    leaf();
    monstartup(0x200000, 0x300000);
    moncontrol(0);
    moncontrol(1);
    gmon_dump();
    leaf();
    CHECK(calls == 3);
    CHECK(profil(NULL, 0, 0, 0, 0, -1) == -1 && errno == EPERM);
    // Functions that the start-up object replaces.
    CHECK(execve("/nowhere", argv, environ) == -1 && errno == ENOENT);
    if (argc == 2) {
        if (!strcmp(argv[1], "deaf")) {
            // Standard error becomes a pipe without a reader.
            int ends[2];
            CHECK(pipe2(ends, 0) == 0 && close(2) == 0 && fcntl(ends[1], 0 /* F_DUPFD */, 0) == 2);
            CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
        }
        argv[1] = NULL;
        execve(argv[0], argv, environ);
    }
    CHECK(pledge("nonsense", NULL) == -1 && errno == EINVAL && pledge("stdio", NULL) == 0);
    say("main\n");
    return 3;
}
