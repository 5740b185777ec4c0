// The rules of profil(2).
#include "bsd.h"

static u16 bins[64];
#define START 0x10000000ul

static __attribute__((noinline)) void work(u64 count) {
    ticks(count);
    __asm__ volatile("");
}

static void arguments(void) {
    CHECK(profil((char *)bins, sizeof bins, START, 65537) == -1 && errno == EINVAL);
    CHECK(profil((char *)bins, sizeof bins, START, ~0u) == -1 && errno == EINVAL);
    // The kernel ignores the upper half of the register.
    int carry;
    CHECK(syscall_number(44, (long)bins, sizeof bins, START, 0x100000000, &carry) == 0 && !carry);
    // The kernel accepts an invalid buffer.
    CHECK(profil((char *)16, 100, START, 65536) == 0);
    CHECK(profil(NULL, 0, 0, 0) == 0);
}

static void index_of_a_pc(void) {
    CHECK(profil((char *)bins, sizeof bins, START, 65536) == 0);
    charge(START, 1);
    charge(START + 1, 1);
    charge(START + 2, 5);
    charge(START - 1, 1);                // below
    charge(START + sizeof bins, 1);      // behind
    charge(START + (1ul << 32) + 4, 3);  // the index is truncated to 32 bits
    charge(START + (1ul << 31) + 6, 3);  // a negative int, read as a large unsigned int
    CHECK(bins[0] == 2 && bins[1] == 5 && bins[2] == 3 && bins[3] == 0);
    // Two bytes of counters for four bytes of code.
    memset(bins, 0, sizeof bins);
    CHECK(profil((char *)bins, sizeof bins, START, 32768) == 0);
    charge(START + 3, 1);
    charge(START + 4, 2);
    charge(START + 255, 4);
    charge(START + 256, 8);
    CHECK(bins[0] == 1 && bins[1] == 2 && bins[63] == 4);
}

static void wrap(void) {
    memset(bins, 0, sizeof bins);
    CHECK(profil((char *)bins, sizeof bins, START, 65536) == 0);
    charge(START, 65535);
    CHECK(bins[0] == 65535);
    charge(START, 3);
    CHECK(bins[0] == 2 && bins[1] == 0);
    // Sampling is stopped and started again.
    CHECK(profil(NULL, 0, 0, 0) == 0);
    charge(START, 9);
    CHECK(bins[0] == 2);
}

static void place(void) {
    memset(bins, 0, sizeof bins);
    CHECK(profil((char *)bins, sizeof bins, (u64)work, 65536) == 0);
    work(70000);
    u64 sum = 0;
    for (int at = 0; at < 64; at++) sum += bins[at];
    CHECK(sum == 70000 - 65536);
}

static void fault(void) {
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0);
    CHECK(profil(page, 4096, START, 65536) == 0);
    charge(START, 1);
    CHECK(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
    charge(START, 1);
    CHECK(page[0] == 0);
    // The buffer is mapped again. After a fault, only a new call of profil starts sampling.
    CHECK(profil(page, 4096, START, 65536) == 0);
    charge(START, 1);
    CHECK(page[0] == 1);
}

// System time is charged at the return of the call: all of its ticks of the statistics clock, 64 ticks each, modulo
// 65,536.
static __attribute__((noinline)) void in_kernel(u64 count) {
    system_ticks(count);
    __asm__ volatile("");
}
static u64 sum(void) {
    u64 sum = 0;
    for (int at = 0; at < 64; at++) sum += bins[at];
    return sum;
}
static void system_time(void) {
    memset(bins, 0, sizeof bins);
    CHECK(profil((char *)bins, sizeof bins, (u64)in_kernel, 65536) == 0);
    in_kernel(63);
    CHECK(sum() == 0);
    in_kernel(640 + 63);
    CHECK(sum() == 640);
    in_kernel(65536 + 128);
    CHECK(sum() == 640 + 128);
    in_kernel(64000);
    CHECK(sum() == 640 + 128 + 64000);
}

int main(void) {
    arguments();
    index_of_a_pc();
    wrap();
    place();
    system_time();
    fault();
    return 0;
}
