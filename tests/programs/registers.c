/*
 * Puts a unique value into every register, calls mcount and __fentry__, and checks that the value is still there: at
 * the first call from a place, which makes an entry in the table, and at later calls, which find the entry.
 *
 * mcount and __fentry__ may change only r11 and the flags. (r11 passes nothing in the C calling convention.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET __attribute__((no_instrument_function))

/* In this order: rax rbx rcx rdx rsi rdi r8 r9 r10 r12 r13 r14 r15, then 32 vectors of 64 bytes, then k0 to k7. */
struct registers {
    unsigned long integers[16];
    unsigned char vectors[32][64];
    unsigned long masks[8];
} __attribute__((aligned(64)));

static struct registers before, after;

#define EACH8(X, a, b, c, d, e, f, g, h) X(a) X(b) X(c) X(d) X(e) X(f) X(g) X(h)
#define LOW16(X) EACH8(X, 0, 1, 2, 3, 4, 5, 6, 7) EACH8(X, 8, 9, 10, 11, 12, 13, 14, 15)
#define HIGH16(X) EACH8(X, 16, 17, 18, 19, 20, 21, 22, 23) EACH8(X, 24, 25, 26, 27, 28, 29, 30, 31)
#define LOAD_XMM(n) "movups before+128+64*" #n "(%%rip), %%xmm" #n "\n"
#define SAVE_XMM(n) "movups %%xmm" #n ", after+128+64*" #n "(%%rip)\n"
#define LOAD_YMM(n) "vmovups before+128+64*" #n "(%%rip), %%ymm" #n "\n"
#define SAVE_YMM(n) "vmovups %%ymm" #n ", after+128+64*" #n "(%%rip)\n"
#define LOAD_ZMM(n) "vmovups before+128+64*" #n "(%%rip), %%zmm" #n "\n"
#define SAVE_ZMM(n) "vmovups %%zmm" #n ", after+128+64*" #n "(%%rip)\n"
#define MASKS(X) EACH8(X, 0, 1, 2, 3, 4, 5, 6, 7)
#define LOAD_MASK(n) "kmovw before+2176+8*" #n "(%%rip), %%k" #n "\n"
#define SAVE_MASK(n) "kmovw %%k" #n ", after+2176+8*" #n "(%%rip)\n"

#define LOAD_INTEGERS \
    "mov before(%%rip), %%rax\n mov before+8(%%rip), %%rbx\n mov before+16(%%rip), %%rcx\n" \
    "mov before+24(%%rip), %%rdx\n mov before+32(%%rip), %%rsi\n mov before+40(%%rip), %%rdi\n" \
    "mov before+48(%%rip), %%r8\n mov before+56(%%rip), %%r9\n mov before+64(%%rip), %%r10\n" \
    "mov before+72(%%rip), %%r12\n mov before+80(%%rip), %%r13\n mov before+88(%%rip), %%r14\n" \
    "mov before+96(%%rip), %%r15\n"
#define SAVE_INTEGERS \
    "mov %%rax, after(%%rip)\n mov %%rbx, after+8(%%rip)\n mov %%rcx, after+16(%%rip)\n" \
    "mov %%rdx, after+24(%%rip)\n mov %%rsi, after+32(%%rip)\n mov %%rdi, after+40(%%rip)\n" \
    "mov %%r8, after+48(%%rip)\n mov %%r9, after+56(%%rip)\n mov %%r10, after+64(%%rip)\n" \
    "mov %%r12, after+72(%%rip)\n mov %%r13, after+80(%%rip)\n mov %%r14, after+88(%%rip)\n" \
    "mov %%r15, after+96(%%rip)\n"

/* A function with a frame, as compiled code has it, that calls `hook`; `skew` misaligns the stack by 8 bytes. */
#define PROBE(name, hook, load, save, skew) \
    QUIET __attribute__((noinline)) static void name(void) { \
        __asm__ volatile( \
            "sub $128, %%rsp\n" /* the compiler's red zone */ \
            "call 1f\n jmp 2f\n" \
            "1: push %%rbp\n mov %%rsp, %%rbp\n" skew load LOAD_INTEGERS \
            "call " hook "\n" \
            SAVE_INTEGERS save "mov %%rbp, %%rsp\n pop %%rbp\n ret\n" \
            "2: add $128, %%rsp\n" \
            : : : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", \
              "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
              "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"); \
    }

PROBE(sse_mcount, "mcount@PLT", LOW16(LOAD_XMM), LOW16(SAVE_XMM), "")
PROBE(sse_mcount_skew, "mcount@PLT", LOW16(LOAD_XMM), LOW16(SAVE_XMM), "push %%rax\n")
PROBE(sse_fentry, "__fentry__@PLT", LOW16(LOAD_XMM), LOW16(SAVE_XMM), "")
PROBE(avx_mcount, "mcount@PLT", LOW16(LOAD_YMM), LOW16(SAVE_YMM) "vzeroupper\n", "")
PROBE(avx_fentry, "__fentry__@PLT", LOW16(LOAD_YMM), LOW16(SAVE_YMM) "vzeroupper\n", "push %%rax\n")
#define LOAD_512 LOW16(LOAD_ZMM) HIGH16(LOAD_ZMM) MASKS(LOAD_MASK)
#define SAVE_512 LOW16(SAVE_ZMM) HIGH16(SAVE_ZMM) MASKS(SAVE_MASK) "vzeroupper\n"
PROBE(avx512_mcount, "mcount@PLT", LOAD_512, SAVE_512, "")
PROBE(avx512_fentry, "__fentry__@PLT", LOAD_512, SAVE_512, "push %%rax\n")

QUIET static void compare(const char *name, int call, const void *expected, const void *found, size_t size) {
    if (memcmp(expected, found, size) != 0) {
        printf("%s: a register of %s changed at call %d\n", name, size > 200 ? "vectors" : "integers", call);
        exit(1);
    }
}

QUIET static void probe(const char *name, void (*function)(void), size_t width, int vectors, int masks) {
    for (int call = 1; call <= 3; call++) {
        unsigned char *bytes = (unsigned char *)&before;
        for (size_t i = 0; i < sizeof before; i++)
            bytes[i] = (unsigned char)(i * 7 + call * 13 + 1);
        for (int i = 0; i < 8; i++)
            before.masks[i] &= 0xffff;
        memset(&after, 0, sizeof after);
        function();
        compare(name, call, before.integers, after.integers, 13 * sizeof *before.integers);
        for (int i = 0; i < vectors; i++)
            if (memcmp(before.vectors[i], after.vectors[i], width) != 0) {
                printf("%s: vector register %d changed at call %d\n", name, i, call);
                exit(1);
            }
        for (int i = 0; i < masks; i++)
            if (before.masks[i] != (after.masks[i] & 0xffff)) {
                printf("%s: mask register %d changed at call %d\n", name, i, call);
                exit(1);
            }
    }
    printf("kept %s\n", name);
}

QUIET int main(void) {
    probe("sse mcount", sse_mcount, 16, 16, 0);
    probe("sse mcount, stack 8 off", sse_mcount_skew, 16, 16, 0);
    probe("sse fentry", sse_fentry, 16, 16, 0);
    if (__builtin_cpu_supports("avx")) {
        probe("avx mcount", avx_mcount, 32, 16, 0);
        probe("avx fentry", avx_fentry, 32, 16, 0);
    }
    if (__builtin_cpu_supports("avx512f")) {
        probe("avx512 mcount", avx512_mcount, 64, 32, 8);
        probe("avx512 fentry", avx512_fentry, 64, 32, 8);
    }
    return 0;
}
