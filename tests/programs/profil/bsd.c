/* 4.4BSD's profil: the statements of its page. */
#define GMON_PROFIL_BSD
#include <gmon.h>

#define ONE_TO_ONE 65536
#define START(buffer, size, offset, scale) CHECK(profil(buffer, size, offset, scale) == 0)
#define STOP() CHECK(profil(NULL, 0, 0, 0) == 0)
#include "common.h"

/* The bin follows the formula, for coarse, fine, and odd scales. */
static void the_bin_is_that_of_the_relation(void) {
    static const unsigned scales[] = {65536, 65535, 40000, 32768, 20000, 16384, 1000, 3, 2, 1};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        for (uintptr_t below = 0; below < 7; below++) {
            unsigned short *counts = fresh();
            uintptr_t offset = lowest() - below;
            CHECK(profil(counts, SIZE, offset, scales[i]) == 0);
            tick(here, 1000);
            CHECK(profil(NULL, 0, 0, 0) == 0);
            CHECK(is_about(counts[bin_of(HERE, offset, scales[i])], 1000));
            CHECK(is_about(sum(counts, COUNTS), 1000));
            /* The formula in the kernel's own words. */
            size_t byte = (size_t)(((unsigned __int128)(HERE - offset) * scales[i]) >> 16) & ~(size_t)1;
            CHECK(byte / 2 == bin_of(HERE, offset, scales[i]));
        }
    }
}

static void a_scale_above_65536_is_einval_and_changes_nothing(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    static const unsigned scales[] = {65537, 0x20000, 0x7fffffff, 0x80000000, 0xffffffff};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        errno = 0;
        CHECK(profil(counts, SIZE, 0, scales[i]) == -1 && errno == EINVAL);
    }
    tick(here, 1000);
    CHECK(is_about(COUNT(counts, HERE), 1000));
    STOP();
}

static void scale_1_is_a_scale(void) {
    unsigned short *counts = fresh();
    CHECK(profil(counts, SIZE, lowest(), 1) == 0);
    tick(here, 1000);
    STOP();
    CHECK(is_about(counts[0], 1000));
}

/* -1, EFAULT, and the profile that was on has ended. */
static void is_a_bad_address(void *samples, size_t size) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    tick(here, 10);
    errno = 0;
    CHECK(profil(samples, size, lowest(), ONE_TO_ONE) == -1 && errno == EFAULT);
    long before = sum(counts, COUNTS);
    CHECK(before >= 10);
    tick(here, 500);
    CHECK(sum(counts, COUNTS) == before);
}
static const unsigned short constant[COUNTS] = {1};
static void a_buffer_that_cannot_be_written_is_efault_and_ends_profiling(void) {
    char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    is_a_bad_address(NULL, SIZE);
    is_a_bad_address((void *)constant, sizeof constant);
    is_a_bad_address((void *)(uintptr_t)here, SIZE);
    is_a_bad_address((void *)(UINTPTR_MAX - 100), SIZE);
    is_a_bad_address((void *)(UINTPTR_MAX - 1), 1);
    is_a_bad_address(memory, SIZE_MAX);
    is_a_bad_address(memory, SIZE_MAX / 2);
    CHECK(mprotect(memory + PAGE, PAGE, PROT_READ) == 0);
    is_a_bad_address(memory, 3 * PAGE);
    is_a_bad_address(memory + PAGE - 1, 2);
    CHECK(munmap(memory + PAGE, PAGE) == 0);
    is_a_bad_address(memory, 3 * PAGE);
    is_a_bad_address(memory, PAGE + 1);
    is_a_bad_address(memory + PAGE, PAGE);
    is_a_bad_address(memory + PAGE - 1, 2);
    CHECK(profil(memory, PAGE, lowest(), ONE_TO_ONE) == 0); /* all of it is there */
    STOP();
}

/* The check touches every page of the buffer and never changes any. */
static volatile int stop_adding;
static void *adds(void *word) {
    long added = 0;
    while (!stop_adding) {
        (*(volatile long *)word)++;
        added++;
    }
    return (void *)added;
}
static void what_is_in_the_buffer_stays(void) {
    unsigned short *counts = fresh();
    long *word = (long *)(counts + COUNTS) - 1;
    pthread_t thread;
    void *added;
    BEGIN(counts);
    tick(here, 1000);
    CHECK(pthread_create(&thread, NULL, adds, word) == 0);
    for (int i = 0; i < 10000; i++)
        CHECK(profil(counts, SIZE, UINTPTR_MAX - 1, ONE_TO_ONE) == 0);
    stop_adding = 1;
    CHECK(pthread_join(thread, &added) == 0 && *word == (long)added);
    CHECK(is_about(COUNT(counts, HERE), 1000));
    BEGIN(counts);
    tick(here, 1000);
    STOP();
    CHECK(is_about(COUNT(counts, HERE), 2000)); /* counts go on from where they are */
}

static void a_count_begins_again_at_0_behind_65535(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    COUNT(counts, HERE) = 65530;
    COUNT(counts, HERE + 2) = 5;
    tick(here, 10);
    STOP();
    CHECK(COUNT(counts, HERE) >= 4 && COUNT(counts, HERE) <= 4 + CLOCK);
    CHECK(COUNT(counts, HERE + 2) <= 5 + CLOCK && COUNT(counts, HERE + 2) >= 5);
}

static void a_tick_is_10_milliseconds(void) { ticks_per_second(100); }

/* The words of the 1982 page: every 16-bit bin of the buffer, and 0 bytes around it. */
static void the_buffer_is_a_series_of_16_bit_bins(void) {
    unsigned short *counts = fresh();
    void (*functions[])(long, long, long) = {here, there};
    uintptr_t places[] = {HERE, THERE};
    for (int i = 0; i < 2; i++) { /* the first bin and the last: there are walls on either side */
        CHECK(profil(counts, 2, places[i], ONE_TO_ONE) == 0);
        tick(functions[i], 100);
        CHECK(profil(counts, SIZE, places[i] - SIZE + 2, ONE_TO_ONE) == 0);
        tick(functions[i], 100);
        CHECK(is_about(counts[0], (i + 1) * 100) && is_about(counts[COUNTS - 1], (i + 1) * 100));
        STOP();
    }
}

static void a_system_without_process_vm_writev_does_as_well(void) {
    refuse_process_vm();
    a_tick_counts_where_it_is();
    memory_that_is_unmapped_ends_it();
    memory_that_becomes_read_only_ends_it();
    odd_addresses_and_sizes_are_taken_as_they_are();
    a_buffer_that_cannot_be_written_is_efault_and_ends_profiling();
}

TRIALS(COMMON, TRIAL(the_bin_is_that_of_the_relation), TRIAL(a_scale_above_65536_is_einval_and_changes_nothing),
       TRIAL(scale_1_is_a_scale), TRIAL(a_buffer_that_cannot_be_written_is_efault_and_ends_profiling),
       TRIAL(what_is_in_the_buffer_stays), TRIAL(a_count_begins_again_at_0_behind_65535),
       TRIAL(a_tick_is_10_milliseconds), TRIAL(the_buffer_is_a_series_of_16_bit_bins),
       TRIAL(a_system_without_process_vm_writev_does_as_well))
