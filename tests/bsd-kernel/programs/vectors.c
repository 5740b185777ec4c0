// A return from a signal handler restores the x87 and AVX registers of the interrupted code.
#include "bsd.h"

static volatile int calls;

// Whether the processor and the kernel have AVX.
static int has_avx(void) {
    u32 a = 1, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (c >> 27 & 3) == 3;
}

static void on_signal(int signal) {
    (void)signal;
    calls++;
    if (has_avx()) __asm__ volatile("vxorps %%ymm7, %%ymm7, %%ymm7; vxorps %%ymm15, %%ymm15, %%ymm15" : : : "xmm7", "xmm15");
    __asm__ volatile("fninit; fldz");
}

// Sends SIGUSR1 with known values in the registers.
#define SEND "sub $128, %%rsp; call kill; add $128, %%rsp;"
#define LOST "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc"

static void x87(void) {
    double before = 0, after = 1;
    u64 rdi = (u64)getpid(), rsi = SIGUSR1, rax;
    __asm__ volatile("fninit; fldpi; fstpl %[before]; fldpi;" SEND "fstpl %[after]"
                     : [before] "+m"(before), [after] "+m"(after), "+D"(rdi), "+S"(rsi), "=a"(rax)
                     :
                     : LOST);
    CHECK(calls == 1 && before > 3.14 && before == after);
}

static void avx(void) {
    u32 before[2][8], after[2][8];
    for (u32 at = 0; at < 16; at++) before[at / 8][at % 8] = 100 + at;
    u64 rdi = (u64)getpid(), rsi = SIGUSR1, rax;
    __asm__ volatile("vmovups %[before], %%ymm7; vmovups 32%[before], %%ymm15;" SEND
                     "vmovups %%ymm7, %[after]; vmovups %%ymm15, 32%[after]"
                     : [before] "+o"(before), [after] "=o"(after), "+D"(rdi), "+S"(rsi), "=a"(rax)
                     :
                     : LOST, "xmm7", "xmm15");
    CHECK(calls == 2 && !memcmp(before, after, sizeof before));
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    x87();
    if (has_avx()) avx();
    return 0;
}
