/*
 * Trials that are the same in every dialect with one buffer of 16-bit counts. The program first defines its call:
 *
 *     START(buffer, size, offset, scale)     begins
 *     STOP()                                 ends
 *     ONE_TO_ONE                             the finest scale
 */
#include "ticks.h"

/* Enough counts for both tick functions, from the lower one on. */
enum { COUNTS = 1024, SIZE = COUNTS * sizeof(unsigned short) };

static uintptr_t lowest(void) { return (HERE < THERE ? HERE : THERE) & ~(uintptr_t)63; }

#define BEGIN(buffer) START(buffer, SIZE, lowest(), ONE_TO_ONE)
#define COUNT(buffer, pc) ((buffer)[bin_of(pc, lowest(), ONE_TO_ONE)])

static unsigned short *fresh(void) { return before_a_wall(SIZE); }

/* A tick raises the count of its place, and no other. */
static void a_tick_counts_where_it_is(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    tick(here, 1000);
    tick(there, 500);
    STOP();
    CHECK(is_about(COUNT(counts, HERE), 1000));
    CHECK(is_about(COUNT(counts, THERE), 500));
    CHECK(is_about(sum(counts, COUNTS), 1500));
}

static void nothing_counts_once_it_is_off(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    tick(here, 100);
    STOP();
    long before = sum(counts, COUNTS);
    tick(here, 100);
    burn(0.1);
    CHECK(sum(counts, COUNTS) == before && before >= 100);
}

/* A buffer of no bytes: nothing is written, wherever it is. */
static void a_buffer_of_no_bytes_has_no_effect(void) {
    unsigned short *counts = fresh();
    signal(SIGNAL_OF_PROFIL, SIG_IGN);
    errno = 0;
    START(counts, 0, lowest(), ONE_TO_ONE);
    CHECK(errno == 0);
    tick(here, 100);
    CHECK(sum(counts, COUNTS) == 0);
    START(NULL, 0, lowest(), ONE_TO_ONE);
    CHECK(errno == 0);
    tick(here, 100);
}

/* A child continues in its copy and its parent in its own, with ticks that they send themselves and ticks of the
 * clock. */
static void it_is_on_in_parent_and_child_after_fork(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    tick(here, 10);
    pid_t child = fork();
    CHECK(child >= 0);
    long before = COUNT(counts, HERE), ticks = child == 0 ? 1000 : 100;
    tick(here, ticks);
    CHECK(is_about(COUNT(counts, HERE), before + ticks));
    unsigned short *clock = fresh();
    START(clock, SIZE, (uintptr_t)burn & ~(uintptr_t)0xffff, 2);
    if (child == 0 && fork() != 0) { /* profiling was turned on before the fork */
        int status;
        CHECK(wait(&status) > 0 && WIFEXITED(status));
        _exit(WEXITSTATUS(status));
    }
    before = sum(clock, COUNTS);
    for (int i = 0; sum(clock, COUNTS) == before; i++) {
        CHECK(i < 1000);
        burn(0.02);
    }
    if (child == 0)
        _exit(7);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    STOP();
}

/* The memory under an active profile goes away or becomes read-only: that ends the profile, and nothing else. */
static void lost_memory(int unmapped) {
    unsigned short *counts = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(counts != MAP_FAILED);
    BEGIN(counts);
    tick(here, 10);
    CHECK(is_about(COUNT(counts, HERE), 10));
    CHECK((unmapped ? munmap(counts, PAGE) : mprotect(counts, PAGE, PROT_READ)) == 0);
    tick(here, 10);
    if (unmapped)
        CHECK(mmap(counts, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == counts);
    else
        CHECK(mprotect(counts, PAGE, PROT_READ | PROT_WRITE) == 0);
    long before = sum(counts, COUNTS);
    tick(here, 1000);
    CHECK(sum(counts, COUNTS) == before);
    BEGIN(counts);
    tick(here, 1000);
    CHECK(is_about(COUNT(counts, HERE), (unmapped ? 0 : 10) + 1000));
    STOP();
}
static void memory_that_is_unmapped_ends_it(void) { lost_memory(1); }
static void memory_that_becomes_read_only_ends_it(void) { lost_memory(0); }

/* An executed program is not profiled, and a tick does not hurt it. */
static void after_exec(void) {
    struct sigaction action;
    CHECK(sigaction(SIGNAL_OF_PROFIL, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    FILE *timers = fopen("/proc/self/timers", "r");
    CHECK(timers == NULL || fgetc(timers) == EOF);
    burn(0.2);
}
static void it_is_off_after_exec(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    burn(0.05);
    execl(arguments[0], arguments[0], "after_exec", (char *)NULL);
    CHECK(!"executed");
}

/* Each of several threads is counted, with clock ticks only. */
enum { THREADS = 4 };
static volatile int stop_threads;
#define SPIN(N) \
    __attribute__((noinline, aligned(4096))) static void *spin_##N(void *unused) { \
        while (!stop_threads) \
            for (volatile int i = 0; i < 1000; i++) \
                ; \
        return unused; \
    }
SPIN(0)
SPIN(1)
SPIN(2)
SPIN(3)
static void all_threads_are_counted(void) {
    void *(*functions[THREADS])(void *) = {spin_0, spin_1, spin_2, spin_3};
    uintptr_t low = UINTPTR_MAX;
    for (int i = 0; i < THREADS; i++)
        low = (uintptr_t)functions[i] < low ? (uintptr_t)functions[i] : low;
    /* Two bins and more for each function. */
    static unsigned short counts[64];
    unsigned scale = 131072 / 1024;
    pthread_t threads[THREADS];
    CHECK(pthread_create(&threads[0], NULL, functions[0], NULL) == 0); /* one that existed before */
    START(counts, sizeof counts, low, scale);
    for (int i = 1; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, functions[i], NULL) == 0);
    double end = cpu_seconds(CLOCK_MONOTONIC) + 100;
    for (int seen = 0; seen < THREADS;) {
        CHECK(cpu_seconds(CLOCK_MONOTONIC) < end);
        usleep(10000);
        seen = 0;
        for (int i = 0; i < THREADS; i++)
            seen += counts[bin_of((uintptr_t)functions[i] + 64, low, scale)] > 0;
    }
    STOP();
    stop_threads = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* As many ticks as hundredths (or another fraction) of a second of CPU time. */
static void ticks_per_second(long expected) {
    static unsigned short counts[4];
    double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    START(counts, sizeof counts, (uintptr_t)burn_until & ~(uintptr_t)0xffff, 2);
    burn_until(counts, 4, 2 * expected); /* this ends with a tick: the kernel has noticed all that are due */
    long counted = sum(counts, 4);
    double due = expected * (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
    STOP();
    /* Less than a tick is missing before the first tick, and as much behind the last. A tick may come early by the
     * clock's precision. */
    CHECK(counted > due - 2 && counted < due + 1);
}

/* Odd addresses and odd sizes: counts are where they are, and a trailing half is no count. */
static void odd_addresses_and_sizes_are_taken_as_they_are(void) {
    unsigned char *bytes = before_a_wall(SIZE + 2);
    unsigned short count;
    for (int odd = 0; odd < 2; odd++) {
        memset(bytes, 0, SIZE + 2);
        START(bytes + odd, SIZE, lowest(), ONE_TO_ONE);
        tick(here, 700);
        STOP();
        memcpy(&count, bytes + odd + 2 * bin_of(HERE, lowest(), ONE_TO_ONE), 2);
        CHECK(is_about(count, 700));
    }
    memset(bytes, 0x55, SIZE + 2);
    size_t bin = bin_of(HERE, lowest(), ONE_TO_ONE);
    START(bytes, 2 * bin + 1, lowest(), ONE_TO_ONE); /* its first byte only */
    tick(here, 700);
    STOP();
    CHECK(bytes[2 * bin] == 0x55 && bytes[2 * bin + 1] == 0x55 && bytes[2 * bin + 2] == 0x55);
}

/* Nothing below the offset counts, and nothing after the last bin. */
static void places_outside_do_not_count(void) {
    unsigned short *counts = fresh();
    uintptr_t low = HERE < THERE ? HERE : THERE;
    void (*lower)(long, long, long) = HERE < THERE ? here : there;
    START(counts, SIZE, low + 1, ONE_TO_ONE);
    tick(lower, 500);
    CHECK(counts[0] <= CLOCK && sum(counts, COUNTS) <= CLOCK);
    START(counts, SIZE, low - 2 * COUNTS, ONE_TO_ONE); /* one bin beyond, as near as possible */
    tick(lower, 500);
    CHECK(sum(counts, COUNTS) <= 2 * CLOCK);
    START(counts, SIZE, UINTPTR_MAX - 100, ONE_TO_ONE); /* past every program */
    tick(lower, 500);
    CHECK(sum(counts, COUNTS) <= 2 * CLOCK);
    STOP();
}

#define COMMON \
    TRIAL(a_tick_counts_where_it_is), TRIAL(nothing_counts_once_it_is_off), TRIAL(a_buffer_of_no_bytes_has_no_effect), \
        TRIAL(it_is_on_in_parent_and_child_after_fork), TRIAL(memory_that_is_unmapped_ends_it), \
        TRIAL(memory_that_becomes_read_only_ends_it), TRIAL(after_exec), TRIAL(it_is_off_after_exec), \
        TRIAL(all_threads_are_counted), TRIAL(odd_addresses_and_sizes_are_taken_as_they_are), \
        TRIAL(places_outside_do_not_count)
