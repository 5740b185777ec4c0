/* A program of cc -pg that profiles itself as well. */
#define GMON_PROFIL_BSD
#include <gmon.h>

#include "ticks.h"

TICKS_BY(sampled_here, SIGNAL_OF_RUNTIME);
TICKS_BY(sampled_there, SIGNAL_OF_RUNTIME);

enum { COUNTS = 1024, SIZE = COUNTS * sizeof(unsigned short) };

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

static uintptr_t lowest(void) { return (HERE < THERE ? HERE : THERE) & ~(uintptr_t)63; }
static void call(long n) {
    while (n-- > 0)
        counted();
}

/* The program's own profile is on for a while; the runtime's profile has everything, before and after too. */
static void each_has_its_own_ticks(void) {
    unsigned short *counts = before_a_wall(SIZE);
    tick(sampled_here, 100);
    CHECK(profil(counts, SIZE, lowest(), 65536) == 0);
    call(1000);
    tick(here, 1000);
    tick(there, 300);
    tick(sampled_here, 1400);
    burn(0.1);
    CHECK(profil(NULL, 0, 0, 0) == 0);
    call(234);
    tick(here, 400);
    tick(sampled_there, 500);
    CHECK(is_about(counts[bin_of(HERE, lowest(), 65536)], 1000) && is_about(counts[bin_of(THERE, lowest(), 65536)], 300));
}

/*
 * Each has its own clock: neither takes or gets the other's ticks. The work ends with a tick, so the kernel has noticed
 * all ticks that are due, of both clocks. Prints how many ticks the CPU time of the work is.
 */
static void each_has_its_own_clock(void) {
    static unsigned short counts[4];
    double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    CHECK(profil(counts, sizeof counts, (uintptr_t)burn_until & ~(uintptr_t)0xffff, 2) == 0);
    burn_until(counts, 4, 200);
    long counted = sum(counts, 4);
    double due = 100 * (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
    CHECK(profil(NULL, 0, 0, 0) == 0);
    CHECK(counted > due - 2 && counted < due + 1);
    printf("%f\n", due);
}

/* Off and on, in the middle of everything, in a child too. */
static void switches_and_forks(void) {
    for (int i = 0; i < 300; i++) {
        unsigned short *counts = before_a_wall(SIZE);
        CHECK(profil(counts, SIZE, lowest(), 65536) == 0);
        tick(here, 10);
        call(1);
        CHECK(profil(NULL, 0, 0, 0) == 0);
        CHECK(is_about(counts[bin_of(HERE, lowest(), 65536)], 10));
        tick(sampled_here, 5);
        tick(sampled_there, 10);
    }
    unsigned short *counts = before_a_wall(SIZE);
    CHECK(profil(counts, SIZE, lowest(), 65536) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        tick(there, 500);
        tick(sampled_there, 400);
        call(7);
        CHECK(is_about(counts[bin_of(THERE, lowest(), 65536)], 500));
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    printf("%d\n", (int)child);
}

TRIALS(TRIAL(each_has_its_own_ticks), TRIAL(each_has_its_own_clock), TRIAL(switches_and_forks))
