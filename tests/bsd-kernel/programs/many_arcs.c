// More arcs than a file has room for: calls of addresses in a sled of returns, from other such addresses.
#include "bsd.h"

#define SIDE 300
#define FREQUENT 1000

// call(from, to): what mcount sees of a call of the function at `to` from `from`. mcount returns to `to`, which returns
// here.
void call(u64 from, u64 to);
extern const char sled[];
#ifdef __FreeBSD__
#define MCOUNT ".mcount"
#else
#define MCOUNT "__mcount"
#endif
__asm__(".text; .p2align 4; .globl sled; sled: .fill 512, 1, 0xc3\n"
        ".globl call; .type call, @function\n"
        "call: push %rbp; push %rdi; push %rbp; mov %rsp, %rbp; lea 1f(%rip), %rax; push %rax; push %rsi; jmp " MCOUNT "\n"
        "1: pop %rbp; pop %rdi; pop %rbp; ret");

int main(int argc, char **argv) {
    CHECK(argc == 2);
    for (u64 from = 0; from < SIDE; from++)
        for (u64 to = 0; to < SIDE; to++) {
            call((u64)sled + from, (u64)sled + to);
            // The last ones are frequent: tables fill up before they come.
            if (from * SIDE + to >= SIDE * SIDE - FREQUENT)
                for (int more = 0; more < 2; more++) call((u64)sled + from, (u64)sled + to);
        }
    if (!strcmp(argv[1], "killed")) kill(getpid(), SIGKILL);
    return 0;
}
