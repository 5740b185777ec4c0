// Functions whose numbers of calls are known, and a check that __mcount keeps the registers that hold arguments.
typedef unsigned long u64;
#define PART __attribute__((noinline, used))
PART void leaf(void) { __asm__ volatile(""); }
PART void middle(int turns) { while (turns-- > 0) leaf(); }
__attribute__((constructor)) static void early(void) { middle(1); }
__attribute__((destructor)) static void late(void) { middle(100); }

// An assembly function as in libc_p.a, which calls __mcount while x0 to x8 hold arguments. Returns a number whose
// hexadecimal digits are the values of x8 to x0.
u64 sum(u64, u64, u64, u64, u64, u64, u64, u64);
__asm__(".text; .globl sum; .type sum, %function; .p2align 2\n"
        "sum: mov x8, #9\n"
        "    stp x29, x30, [sp, #-16]!; mov x29, sp; bl __mcount; ldp x29, x30, [sp], #16\n"
        "    add x0, x0, x1, lsl #4; add x0, x0, x2, lsl #8; add x0, x0, x3, lsl #12; add x0, x0, x4, lsl #16\n"
        "    add x0, x0, x5, lsl #20; add x0, x0, x6, lsl #24; add x0, x0, x7, lsl #28; add x0, x0, x8, lsl #32\n"
        "    ret; .size sum, .-sum");

PART int caller(void) { return sum(1, 2, 3, 4, 5, 6, 7, 8) == 0x987654321; }

int main(void) {
    middle(10);
    int right = 0;
    for (int turn = 0; turn < 5; turn++) right += caller();
    return right == 5 ? 7 : 1;
}
