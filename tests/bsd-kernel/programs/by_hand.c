// A program without a profiling start-up object, linked with libgmon.a, that starts and ends its profile itself. The
// child of a fork does so too. Nothing before `monstartup` and after `_mcleanup` counts.
#include "bsd.h"

void monstartup(unsigned long, unsigned long);
void _mcleanup(void);
extern char __executable_start, etext;

#define PART __attribute__((noinline, used))
#define KEEP __asm__ volatile("")

PART void before(void) { KEEP; }
PART void parents(void) { KEEP; }
PART void childs(void) { KEEP; }
PART void light(u64 count) {
    ticks(count);
    KEEP;
}

// With an argument, the program has fewer ticks than a counter of 16 bits can count.
int main(int argc, char **argv) {
#ifdef __OpenBSD__
    // Before the runtime starts.
    if (argc > 1 && !strcmp(argv[1], "pledged")) CHECK(pledge("stdio proc", NULL) == 0);
#else
    (void)argv;
#endif
    before();
    light(10);
    monstartup((unsigned long)&__executable_start, (unsigned long)&etext);
    monstartup(0, 16);
    for (int turn = 0; turn < 30; turn++) parents();
    light(argc > 1 ? 700 : 70000);
    pid_t child = fork();
    if (child == 0) {
        for (int turn = 0; turn < 40; turn++) childs();
        light(20);
        _mcleanup();
        _exit(0);
    }
    int status = -1;
    CHECK(child > 0 && wait4(child, &status, 0, NULL) == child && status == 0);
    _mcleanup();
    before();
    light(10);
    return 0;
}
