/* System V's and AIX's profil: the statements of its page. */
#include <mon.h>

/* The finest scale of this dialect. */
#define ONE_TO_ONE 0xffff
#define START(buffer, size, offset, scale) profil((short *)(buffer), size, offset, scale)
#define STOP() profil(NULL, 0, 0, 0)
#include "common.h"

/* Defined in library.c. */
void in_library(long n, long process, long thread);
void in_library_pc(void);

static void the_index_is_the_remainder_times_the_scale(void) {
    static const unsigned scales[] = {0xffff, 40000, 0x7fff, 0x4000, 1000, 3, 2};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        unsigned short *counts = fresh();
        uintptr_t offset = lowest() - 3 * i;
        profil(counts, SIZE, offset, scales[i]);
        tick(here, 1000);
        STOP();
        CHECK(is_about(counts[bin_of(HERE, offset, scales[i])], 1000));
        CHECK(is_about(sum(counts, COUNTS), 1000));
    }
}

/* The scale is a 16-bit fraction; higher bits are ignored. */
static void the_high_bits_of_the_scale_are_ignored(void) {
    unsigned short *counts = fresh();
    profil((short *)counts, SIZE, lowest(), 0x7fff4000);
    tick(here, 100);
    profil((short *)counts, SIZE, lowest(), 0xffff4000);
    tick(here, 100);
    CHECK(is_about(counts[bin_of(HERE, lowest(), 0x4000)], 200));
    profil((short *)counts, SIZE, lowest(), 0x10000); /* nothing below: that is 0 */
    long before = sum(counts, COUNTS);
    tick(here, 100);
    CHECK(sum(counts, COUNTS) == before);
}

static void scale_1_has_everything_in_the_first_short(void) {
    unsigned short *counts = fresh();
    profil((short *)counts, SIZE, lowest() + 100000, 1);
    tick(here, 100);
    tick(there, 100);
    tick(in_library, 100);
    CHECK(is_about(counts[0], 300) && sum(counts, COUNTS) == counts[0]);
    profil((short *)counts + COUNTS - 1, 2, 0, 1); /* one short is enough */
    tick(in_library, 100);
    STOP();
    CHECK(is_about(counts[COUNTS - 1], 100));
}

static void scale_0_turns_it_off(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    tick(here, 100);
    profil((short *)counts, SIZE, lowest(), 0);
    long before = sum(counts, COUNTS);
    tick(here, 100);
    burn(0.05);
    CHECK(before >= 100 && sum(counts, COUNTS) == before);
}

static void a_tick_is_a_sixtieth_of_a_second(void) { ticks_per_second(60); }

static void a_short_stays_at_its_highest_value(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    COUNT(counts, HERE) = 32700;
    tick(here, 1000);
    tick(there, 100);
    CHECK(COUNT(counts, HERE) == 32767 && is_about(COUNT(counts, THERE), 100));
    STOP();
}

static void a_buffer_that_cannot_be_written_ends_it_at_the_first_tick(void) {
    unsigned short *counts = fresh();
    void *bad[] = {NULL, (void *)(uintptr_t)here, (void *)(UINTPTR_MAX - 100), counts + COUNTS};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        BEGIN((short *)bad[i]);
        CHECK(errno == 0);
        tick(here, 10);
    }
    BEGIN(counts);
    tick(here, 100);
    CHECK(is_about(COUNT(counts, HERE), 100));
    STOP();
}

/* Lists. */
static struct prof element(uintptr_t low, uintptr_t high, unsigned short *counts, int size, int scale) {
    struct prof made = {(daddr_t)low, (daddr_t)high, (short_t *)counts, size, scale};
    return made;
}
#define LIST(list) (errno = 0, profil(list, -1, 12345, 0))

/* The program's own code and a shared object's, in address order. */
static void several_ranges_are_profiled_at_once(void) {
    unsigned short *own = fresh(), *other = fresh();
    struct prof list[3] = {{0, 0, 0, 0, 0}};
    uintptr_t low = (uintptr_t)in_library & ~(uintptr_t)63;
    struct prof a = element(lowest(), lowest() + 2 * COUNTS, own, SIZE, -1), b = element(low, low + 2 * COUNTS, other, SIZE, 0x8000);
    list[0] = a.p_low < b.p_low ? a : b;
    list[1] = a.p_low < b.p_low ? b : a;
    LIST(list);
    CHECK(errno == 0);
    memset(list, 0xff, sizeof list); /* the list is no longer read */
    tick(here, 300);
    tick(there, 200);
    tick(in_library, 100);
    STOP();
    CHECK(is_about(COUNT(own, HERE), 300) && is_about(COUNT(own, THERE), 200));
    CHECK(is_about(other[bin_of((uintptr_t)in_library_pc, low, 0x8000)], 100) && is_about(sum(other, COUNTS), 100));
}

/* -1: the range fits the buffer, whatever both are. */
static void a_scale_of_minus_1_is_computed_from_range_and_buffer(void) {
    for (int size = 2; size <= SIZE; size *= 3) {
        for (uintptr_t range = 512; range <= 1 << 20; range *= 8) {
            unsigned short *counts = fresh();
            struct prof list[] = {element(HERE - range + 1, HERE + 1, counts + COUNTS - size / 2, size, -1),
                                  element(0, 0, NULL, 0, 0)};
            LIST(list); /* HERE is the last address: it counts, and a wall follows the last short */
            tick(here, 100);
            STOP();
            CHECK(errno == 0 && is_about(sum(counts, COUNTS), 100));
            unsigned short last = 0;
            for (int i = 0; i < COUNTS; i++)
                last = counts[i] >= 100 ? i - (COUNTS - size / 2) : last;
            double fill = (range - 1) / 2. < size / 2 - 1 ? (range - 1) / 2. : size / 2 - 1;
            CHECK(last <= size / 2 - 1 && last >= 0.95 * fill - 2);
        }
    }
}

static void other_scales_in_a_list_are_as_without_one(void) {
    static const int scales[] = {0xffff, 0x4000, 0x7fff4000, 1, 0x10001, -2};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        unsigned short *counts = fresh();
        struct prof list[] = {element(lowest(), HERE + 1, counts, SIZE, scales[i]), element(0, 0, NULL, 0, 0)};
        LIST(list);
        tick(here, 100);
        STOP();
        unsigned scale = scales[i] & 0xffff;
        CHECK(is_about(counts[scale == 1 ? 0 : bin_of(HERE, lowest(), scale)], 100));
    }
    /* 0: no profile of that range, and one of the other range. */
    unsigned short *counts = fresh(), *more = fresh();
    struct prof list[] = {element(HERE, HERE + 1, counts, SIZE, 0), element(lowest(), HERE + 2, more, SIZE, 0xffff),
                          element(0, 0, NULL, 0, 0)};
    LIST(list);
    tick(here, 100);
    STOP();
    CHECK(sum(counts, COUNTS) == 0 && is_about(COUNT(more, HERE), 100));
}

static void a_list_ends_at_a_p_high_of_0(void) {
    unsigned short *counts = fresh();
    struct prof *list = before_a_wall(2 * sizeof *list);
    list[0] = element(HERE, HERE + 1, counts, SIZE, 0xffff);
    list[1] = element(1, 0, NULL, -5, 7);
    LIST(list);
    tick(here, 100);
    CHECK(errno == 0 && is_about(counts[0], 100));
    LIST(list + 1); /* no range: that ends profiling */
    long before = sum(counts, COUNTS);
    tick(here, 100);
    CHECK(errno == 0 && sum(counts, COUNTS) == before);
}

/* Errors are reported and change nothing. */
static void refused(const struct prof *first, const struct prof *second, int error) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    struct prof list[] = {*first, *second, element(0, 0, NULL, 0, 0)};
    LIST(list);
    CHECK(errno == error);
    tick(here, 100);
    CHECK(is_about(COUNT(counts, HERE), 100));
    STOP();
}
static void p_high_must_ascend(void) {
    unsigned short *counts = fresh();
    struct prof low = element(0x1000, 0x2000, counts, SIZE, -1), high = element(0x3000, 0x4000, counts, SIZE, -1);
    refused(&high, &low, EINVAL);
    refused(&low, &low, EINVAL);
    struct prof backwards = element(0x5000, 0x4000, counts, SIZE, -1), negative = element(0x3000, 0x4000, counts, -2, -1);
    refused(&low, &backwards, EINVAL);
    refused(&low, &negative, EINVAL);
}

/* The first structure with a short for an address gets its ticks. */
static void overlapping_ranges_count_in_the_first(void) {
    unsigned short *first = fresh(), *second = fresh();
    struct prof list[] = {element(lowest(), HERE + 1, first, SIZE, 0xffff),
                          element(lowest(), HERE + 2 * SIZE, second, SIZE, 0xffff), element(0, 0, NULL, 0, 0)};
    LIST(list);
    tick(here, 100);
    CHECK(errno == 0 && is_about(COUNT(first, HERE), 100) && COUNT(second, HERE) <= CLOCK);
    list[0].p_bufsize = 2;
    LIST(list);
    tick(here, 100);
    STOP();
    CHECK(is_about(COUNT(second, HERE), 100));
}

static void a_list_that_is_not_there_is_efault(void) {
    unsigned short *counts = fresh();
    struct prof *list = before_a_wall(2 * sizeof *list);
    list[0] = element(0x1000, 0x2000, counts, SIZE, -1);
    list[1] = element(0x2000, 0x3000, counts, SIZE, -1); /* and no end */
    struct prof *bad[] = {NULL, list, list + 2, (struct prof *)(UINTPTR_MAX - 15)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        BEGIN(counts);
        LIST(bad[i]);
        CHECK(errno == EFAULT);
        memset(counts, 0, SIZE);
        tick(here, 100);
        CHECK(is_about(COUNT(counts, HERE), 100));
    }
    STOP();
}

/* If one element's memory goes away, the profile of all ends. */
static void memory_of_a_list_that_goes_away_ends_it(void) {
    unsigned short *counts = fresh();
    void *gone = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct prof list[] = {element(HERE, HERE + 1, gone, PAGE, 1), element(lowest(), lowest() + SIZE, counts, SIZE, 1),
                          element(0, 0, NULL, 0, 0)};
    if (THERE + 1 < HERE || THERE > lowest() + SIZE)
        return; /* the layout is not sorted this way */
    LIST(list);
    CHECK(errno == 0);
    tick(there, 100);
    CHECK(is_about(counts[0], 100) && munmap(gone, PAGE) == 0);
    tick(here, 1);
    long before = counts[0];
    tick(there, 100);
    CHECK(counts[0] == before);
}

/* The structure has the members in the page. */
static void mon_h_has_struct_prof(void) {
    struct prof a = {.p_low = (daddr_t)here, .p_high = (daddr_t)there, .p_buff = NULL, .p_bufsize = 4, .p_scale = -1};
    short_t count = -1;
    int_t number = -1;
    CHECK((uintptr_t)a.p_low == (uintptr_t)here && sizeof count == sizeof(short) && sizeof number == sizeof(int));
    CHECK(sizeof a.p_buff == sizeof(void *) && a.p_scale == number);
}

TRIALS(COMMON, TRIAL(the_index_is_the_remainder_times_the_scale), TRIAL(the_high_bits_of_the_scale_are_ignored),
       TRIAL(scale_1_has_everything_in_the_first_short), TRIAL(scale_0_turns_it_off),
       TRIAL(a_tick_is_a_sixtieth_of_a_second), TRIAL(a_short_stays_at_its_highest_value),
       TRIAL(a_buffer_that_cannot_be_written_ends_it_at_the_first_tick), TRIAL(several_ranges_are_profiled_at_once),
       TRIAL(a_scale_of_minus_1_is_computed_from_range_and_buffer), TRIAL(other_scales_in_a_list_are_as_without_one),
       TRIAL(a_list_ends_at_a_p_high_of_0), TRIAL(p_high_must_ascend), TRIAL(overlapping_ranges_count_in_the_first),
       TRIAL(a_list_that_is_not_there_is_efault), TRIAL(memory_of_a_list_that_goes_away_ends_it),
       TRIAL(mon_h_has_struct_prof))
