/* illumos' profil and pcsample: the statements of their page. */
#define GMON_PROFIL_ILLUMOS
#include <gmon.h>

/* The finest scale of this dialect. */
#define ONE_TO_ONE 0xffff
#define START(buffer, size, offset, scale) profil((unsigned short *)(buffer), size, offset, scale)
#define STOP() profil(NULL, 0, 0, 0)
#include "common.h"

/* Subtract, multiply, and the result is the index in bytes of the buffer, two for each count. */
static void the_index_is_the_remainder_times_the_scale(void) {
    static const unsigned scales[] = {0xffff, 40000, 0x8000, 0x4000, 1000, 3, 2};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        unsigned short *counts = fresh();
        uintptr_t offset = lowest() - 3 * i;
        profil(counts, SIZE, offset, scales[i]);
        tick(here, 1000);
        profil(counts, SIZE, 0, 0);
        size_t byte = (size_t)(((unsigned __int128)(HERE - offset) * scales[i]) >> 16);
        CHECK(is_about(counts[byte / 2], 1000));
        CHECK(is_about(sum(counts, COUNTS), 1000));
    }
}

static void ends_with(unsigned scale) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    tick(here, 100);
    profil(counts, SIZE, lowest(), scale);
    long before = sum(counts, COUNTS);
    tick(here, 100);
    burn(0.05);
    CHECK(before >= 100 && sum(counts, COUNTS) == before);
}
static void scales_0_and_1_turn_it_off(void) {
    ends_with(0);
    ends_with(1);
}

static void a_scale_above_ffff_is_einval_and_changes_nothing(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    static const unsigned scales[] = {0x10000, 0x10002, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        errno = 0;
        profil(counts, SIZE, 0, scales[i]);
        CHECK(errno == EINVAL);
    }
    tick(here, 1000);
    CHECK(is_about(COUNT(counts, HERE), 1000));
    STOP();
}

static void a_count_of_32767_stops_it(void) {
    unsigned short *counts = fresh();
    BEGIN(counts);
    COUNT(counts, HERE) = 32000;
    tick(there, 100);
    tick(here, 2000);
    CHECK(COUNT(counts, HERE) == 32767);
    long others = sum(counts, COUNTS);
    tick(there, 100);
    tick(here, 100);
    burn(0.05);
    CHECK(sum(counts, COUNTS) == others); /* nothing more, nowhere */
    BEGIN(counts); /* it is full already */
    tick(here, 1);
    CHECK(sum(counts, COUNTS) <= others + CLOCK && COUNT(counts, HERE) == 32767);
    COUNT(counts, HERE) = 0;
    BEGIN(counts);
    tick(here, 100);
    CHECK(is_about(COUNT(counts, HERE), 100));
    STOP();
}

/* The page has no errors: an invalid buffer is detected at the first tick, which ends profiling. */
static void a_buffer_that_cannot_be_written_ends_it_at_the_first_tick(void) {
    static const unsigned short constant[COUNTS] = {1};
    unsigned short *counts = fresh();
    void *bad[] = {NULL, (void *)constant, (void *)(uintptr_t)here, (void *)(UINTPTR_MAX - 100), counts + COUNTS};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        BEGIN((unsigned short *)bad[i]);
        CHECK(errno == 0);
        tick(here, 10);
        CHECK(constant[0] == 1 && sum(constant, COUNTS) == 1);
    }
    BEGIN(counts);
    tick(here, 100);
    CHECK(is_about(COUNT(counts, HERE), 100));
    START(counts, SIZE_MAX, lowest(), ONE_TO_ONE); /* more than can be remembered: that also ends profiling */
    CHECK(errno == ENOMEM);
    tick(here, 100);
    CHECK(is_about(COUNT(counts, HERE), 100));
    STOP();
}

/* One thread's call turns profiling on and off for all threads. */
static volatile int phase;
static void *another(void *unused) {
    while (phase == 0)
        sched_yield();
    tick(here, 500);
    phase = 2;
    while (phase == 2)
        sched_yield();
    tick(here, 500);
    return unused;
}
static void a_call_is_for_all_threads(void) {
    unsigned short *counts = fresh();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, another, NULL) == 0);
    BEGIN(counts);
    phase = 1;
    while (phase == 1)
        sched_yield();
    STOP();
    long before = COUNT(counts, HERE);
    CHECK(is_about(before, 500));
    phase = 3;
    CHECK(pthread_join(thread, NULL) == 0 && COUNT(counts, HERE) == before);
}

static void a_tick_is_10_milliseconds(void) { ticks_per_second(100); }

/* pcsample. */
enum { PLACES = 512 };
static uintptr_t *fresh_places(void) { return before_a_wall(PLACES * sizeof(uintptr_t)); }
static long how_often(const uintptr_t *places, uintptr_t place) {
    long found = 0;
    for (int i = 0; i < PLACES; i++)
        found += places[i] == place;
    return found;
}

static void pcsample_stores_addresses_and_says_how_many(void) {
    uintptr_t *places = fresh_places(), *more = fresh_places();
    CHECK(pcsample(places, PLACES) == 0);
    tick(here, 100);
    tick(there, 50);
    long stored = pcsample(more, PLACES);
    CHECK(is_about(stored, 150) && how_often(places, 0) == PLACES - stored);
    CHECK(is_about(how_often(places, HERE), 100) && is_about(how_often(places, THERE), 50));
    for (long i = 0; i < stored; i++)
        CHECK(places[i] != 0);
    tick(here, 30);
    stored = pcsample(NULL, 0);
    CHECK(is_about(stored, 30) && is_about(how_often(more, HERE), 30));
    tick(here, 30);
    CHECK(pcsample(NULL, 0) == 0 && how_often(more, 0) == PLACES - stored);
}

static void pcsample_stops_when_there_is_no_room(void) {
    uintptr_t *places = fresh_places(); /* a wall follows the last one */
    CHECK(pcsample(places, PLACES) == 0);
    tick(here, PLACES + 100);
    CHECK(pcsample(NULL, 0) == PLACES);
    CHECK(how_often(places, 0) == 0 && how_often(places, HERE) >= PLACES - CLOCK);
    places = fresh_places();
    CHECK(pcsample(places + PLACES - 1, 1) == 0);
    tick(here, 10);
    CHECK(pcsample(NULL, 0) == 1 && how_often(places, 0) == PLACES - 1);
}

static void pcsample_has_errors(void) {
    uintptr_t *places = fresh_places();
    CHECK(pcsample(places, PLACES) == 0);
    errno = 0;
    CHECK(pcsample(places, -1) == -1 && errno == EINVAL);
    errno = 0;
    CHECK(pcsample(places, LONG_MAX) == -1 && errno == EINVAL);
    void *bad[] = {NULL, (void *)(uintptr_t)here, places + PLACES, places + 1, (void *)(UINTPTR_MAX - 7)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        CHECK(pcsample(bad[i], PLACES) == -1 && errno == EFAULT);
    }
    tick(here, 20); /* the previous profile continues */
    CHECK(is_about(pcsample(NULL, 0), 20));
    char *bytes = (char *)fresh_places() + 1; /* at any address */
    CHECK(pcsample((uintptr_t *)bytes, PLACES - 1) == 0);
    tick(here, 20);
    CHECK(is_about(pcsample(NULL, 0), 20));
    uintptr_t first;
    memcpy(&first, bytes, sizeof first);
    CHECK(first != 0);
}

static void pcsample_ends_when_its_memory_goes_away(void) {
    uintptr_t *places = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(places != MAP_FAILED && pcsample(places, PLACES) == 0);
    tick(here, 10);
    CHECK(munmap(places, PAGE) == 0);
    tick(here, 10);
    CHECK(is_about(pcsample(NULL, 0), 10));
}

/* In a shared object far from the program's own code, and without a buffer for everything in between. */
static void pcsample_sees_shared_objects(void) {
    uintptr_t *places = fresh_places();
    uintptr_t low = (uintptr_t)strlen & ~(uintptr_t)0xfffff; /* the C library, somewhere near */
    char *text = malloc(1 << 20);
    CHECK(text != NULL);
    memset(text, 'x', 1 << 20);
    text[(1 << 20) - 1] = 0;
    size_t (*volatile length)(const char *) = strlen;
    for (int seen = 0, round = 0; !seen; round++) {
        CHECK(round < 100 && pcsample(places, PLACES) == 0);
        double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.1;
        while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
            for (int i = 0; i < 100; i++)
                (void)length(text);
        for (long stored = pcsample(NULL, 0); stored > 0; stored--)
            seen += places[stored - 1] - low < 0x400000;
    }
}

/* profil and pcsample are one thing: the last call counts. */
static void profil_and_pcsample_take_each_others_place(void) {
    uintptr_t *places = fresh_places();
    unsigned short *counts = fresh();
    CHECK(pcsample(places, PLACES) == 0);
    tick(here, 10);
    BEGIN(counts);
    long taken = PLACES - how_often(places, 0);
    tick(here, 20);
    CHECK(PLACES - how_often(places, 0) == taken && is_about(COUNT(counts, HERE), 20));
    CHECK(pcsample(places, PLACES) == 0);
    long before = sum(counts, COUNTS);
    tick(here, 20);
    CHECK(sum(counts, COUNTS) == before && is_about(pcsample(NULL, 0), 20));
}

TRIALS(COMMON, TRIAL(the_index_is_the_remainder_times_the_scale), TRIAL(scales_0_and_1_turn_it_off),
       TRIAL(a_scale_above_ffff_is_einval_and_changes_nothing), TRIAL(a_count_of_32767_stops_it),
       TRIAL(a_buffer_that_cannot_be_written_ends_it_at_the_first_tick), TRIAL(a_call_is_for_all_threads),
       TRIAL(a_tick_is_10_milliseconds), TRIAL(pcsample_stores_addresses_and_says_how_many),
       TRIAL(pcsample_stops_when_there_is_no_room), TRIAL(pcsample_has_errors),
       TRIAL(pcsample_ends_when_its_memory_goes_away), TRIAL(pcsample_sees_shared_objects),
       TRIAL(profil_and_pcsample_take_each_others_place))
