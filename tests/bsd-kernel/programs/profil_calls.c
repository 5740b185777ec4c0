// A program that calls profil in the dialects of several systems (libgmon.a). The argument selects a trial. At 8128
// ticks of the profiling clock per second, 8128 ticks are 100 ticks of 4.4BSD's clock and 60 of System V's.
#include "bsd.h"

int gmon_profil_bsd(void *, size_t, size_t, unsigned);
int gmon_profil_openbsd(void *, size_t, size_t, u64, unsigned, int);
void gmon_profil_illumos(void *, size_t, size_t, unsigned);
long gmon_pcsample(u64 *, long);
void gmon_profil_aix(void *, unsigned, size_t, unsigned);

#define EBUSY 16
#define EALREADY 37
#define SECOND 8128
#define PART __attribute__((noinline, used, aligned(64)))

PART void work(u64 count) {
    ticks(count);
    __asm__ volatile("");
}
PART void more_work(u64 count) {
    ticks(count);
    __asm__ volatile("");
}

static u16 counts[64];
static u64 sum_of(const u16 *bins, u64 number) {
    u64 sum = 0;
    for (u64 at = 0; at < number; at++) sum += bins[at];
    return sum;
}
static u64 sum(void) { return sum_of(counts, 64); }
static int start(void) { return gmon_profil_bsd(counts, sizeof counts, (size_t)work, 65536); }
static int timer_runs(void) {
    struct itimerval timer;
    CHECK(getitimer(ITIMER_PROF, &timer) == 0);
    return timer.it_value.tv_sec || timer.it_value.tv_usec;
}

static void counts_where_it_is(void) {
    CHECK(start() == 0);
    work(SECOND);
    CHECK(sum() == 100);
    CHECK(sum_of(counts, 32) == 100 && counts[0] == 0);
    // Code before the offset and behind the last bin.
    CHECK(gmon_profil_bsd(counts, 2, (size_t)work, 65536) == 0);
    work(SECOND);
    CHECK(sum() == 100);
    CHECK(gmon_profil_bsd(counts, 0, 0, 0) == 0 && start() == 0 && gmon_profil_bsd(NULL, 0, 0, 0) == 0);
    work(SECOND);
    CHECK(sum() == 100 && !timer_runs());
}

// Ticks that come later than the interval stop the kernel's timer; each of them has one tick of the profile, at the
// call's end.
PART void delayed_work(u64 count) {
    late_ticks(count);
    __asm__ volatile("");
}
static void late(void) {
    CHECK(start() == 0);
    work(SECOND);
    CHECK(sum() == 100);
    delayed_work(SECOND / 4);
    CHECK(timer_runs());
    work(SECOND);
    CHECK(sum_of(counts, 16) == 200);
    CHECK(gmon_profil_bsd(NULL, 0, 0, 0) == 0);
    work(SECOND);
    CHECK(!timer_runs());
}

static void errors(void) {
    CHECK(start() == 0);
    CHECK(gmon_profil_bsd(counts, sizeof counts, 0, 65537) == -1 && errno == EINVAL);
    work(SECOND);
    CHECK(sum() == 100);
    CHECK(gmon_profil_bsd("read-only", 8, (size_t)work, 65536) == -1 && errno == EFAULT);
    work(SECOND);
    CHECK(sum() == 100 && !timer_runs());
    CHECK(gmon_profil_bsd((void *)16, 2, (size_t)work, 65536) == -1 && errno == EFAULT);
}

static void memory_goes_away(void) {
    for (int turn = 0; turn < 2; turn++) {
        char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
        CHECK(page != MAP_FAILED);
        // An odd address, and a bin for each two bytes across the border of the pages.
        CHECK(gmon_profil_bsd(page + 4001, 200, (size_t)work, 65536) == 0);
        work(SECOND);
        u64 found = 0;
        for (u64 at = 0; at < 200; at++) found += (u8)page[4001 + at];
        CHECK(found == 100 && timer_runs());
        CHECK((turn ? mprotect(page, 8192, PROT_READ) : munmap(page, 8192)) == 0);
        work(SECOND);
        CHECK(!timer_runs());
    }
}

static void *in_thread(void *argument) {
    work((u64)argument);
    return NULL;
}
static void threads(void) {
    pthread_t made[3];
    CHECK(start() == 0);
    for (int at = 0; at < 3; at++) CHECK(pthread_create(&made[at], NULL, in_thread, (void *)SECOND) == 0);
    for (int at = 0; at < 3; at++) CHECK(pthread_join(made[at], NULL) == 0);
    CHECK(sum() == 300);
}

static void illumos(void) {
    gmon_profil_illumos(counts, sizeof counts, (size_t)work, 0xffff);
    work(SECOND);
    CHECK(sum() == 100);
    for (u64 at = 0; at < 64; at++) counts[at] = 32757;
    work(SECOND);
    CHECK(sum() == 64 * 32757 + 10 && !timer_runs());
    u64 addresses[50] = {0};
    CHECK(gmon_pcsample(addresses, 50) == 0);
    work(SECOND / 4 + 1);
    CHECK(gmon_pcsample(addresses, 50) == 25);
    for (int at = 0; at < 25; at++) CHECK(addresses[at] - (u64)work < 64);
    more_work(SECOND);
    CHECK(!timer_runs() && gmon_pcsample(NULL, 0) == 50 && addresses[49] - (u64)more_work < 64);
    CHECK(gmon_pcsample(addresses, -1) == -1 && errno == EINVAL);
    CHECK(gmon_pcsample((u64 *)16, 1) == -1 && errno == EFAULT);
}

static void aix(void) {
    struct prof { u64 low, high; u16 *bins; int size, scale; };
    u16 others[32] = {0};
    u64 first = (u64)work, second = (u64)more_work;
    CHECK(second >= first + 64);
    const struct prof list[] = {{first, first + 64, counts, 64, -1}, {second, second + 64, others, 64, -1}, {0, 0, NULL, 0, 0}};
    gmon_profil_aix((void *)list, -1, 0, 0);
    work(SECOND);
    more_work(2 * SECOND);
    CHECK(sum() == 60 && sum_of(others, 32) == 120);
    gmon_profil_aix(counts, sizeof counts, 0, 1);
    more_work(SECOND);
    CHECK(counts[0] == 60);
    errno = 0;
    gmon_profil_aix((void *)16, -1, 0, 0);
    CHECK(errno == EFAULT);
    for (u64 at = 0; at < 64; at++) counts[at] = 32760;
    work(SECOND);
    CHECK(counts[0] == 32767);
}

// The child of a fork gets ticks when the child itself makes a call.
static void forks(void) {
    CHECK(start() == 0);
    work(SECOND);
    pid_t child = fork();
    if (child == 0) {
        work(SECOND);
        CHECK(sum() == 100 && !timer_runs() && start() == 0);
        work(SECOND);
        CHECK(sum() == 200 && gmon_profil_bsd(NULL, 0, 0, 0) == 0);
        _exit(0);
    }
    int status = -1;
    CHECK(child > 0 && wait4(child, &status, 0, NULL) == child && status == 0);
    work(SECOND);
    CHECK(sum() == 200);
}

static void on_signal(int signal) { (void)signal; }
static void programs_own_timer(void) {
    struct itimerval timer = {{10, 0}, {10, 0}}, off = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    CHECK(start() == -1 && errno == EBUSY);
    CHECK(setitimer(ITIMER_PROF, &off, NULL) == 0 && start() == 0 && gmon_profil_bsd(NULL, 0, 0, 0) == 0);
    work(SECOND);
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGPROF, &action, NULL) == 0);
    CHECK(start() == -1 && errno == EBUSY && !timer_runs());
}

static int open_files(void) {
    int copy = dup(1);
    CHECK(copy >= 0 && close(copy) == 0);
    return copy;
}
static void descriptors(void) {
    int before = open_files();
    CHECK(start() == 0);
    work(SECOND);
    CHECK(sum() == 100 && open_files() == before);
}

// OpenBSD's profil stores the buffer when the process ends.
struct header { u64 lpc, hpc; int ncnt, version, profrate, totarc, spare[2]; };
static struct { struct header header; u16 samples[64]; struct { u64 from, self; long count; } arcs[1]; } buffer;
static void openbsd(void) {
    buffer.header = (struct header){(u64)work, (u64)work + 128, 40 + 128, 0x51879, 100, 24, {0, 0}};
    buffer.arcs[0].self = (u64)work;
    buffer.arcs[0].count = 1;
    CHECK(gmon_profil_openbsd(&buffer, sizeof buffer, sizeof buffer.samples, (u64)work, 65536, -1) == 0);
    CHECK(gmon_profil_openbsd(counts, sizeof counts, 64, (u64)work, 65536, -1) == -1 && errno == EALREADY);
    work(SECOND);
    CHECK(sum_of(buffer.samples, 64) == 100);
}
__asm__(".pushsection .note.gmon.profil,\"a\",%note; .balign 4; .long 8, 0, 2; .asciz \"OpenBSD\"; .popsection");

// With the start-up object: both profiles count, and OpenBSD's first call was the runtime's.
static void together(void) {
    CHECK(start() == 0);
    work(SECOND);
    CHECK(sum() == 100);
    CHECK(gmon_profil_openbsd(&buffer, sizeof buffer, 128, (u64)work, 65536, -1) == -1 && errno == EALREADY);
    pid_t child = fork();
    if (child == 0) {
        work(5);
        exit(0);
    }
    int status = -1;
    CHECK(child > 0 && wait4(child, &status, 0, NULL) == child && status == 0);
    CHECK(gmon_profil_bsd(NULL, 0, 0, 0) == 0);
}

int main(int argc, char **argv) {
    static const struct { const char *name; void (*run)(void); } trials[] = {
        {"counts_where_it_is", counts_where_it_is}, {"errors", errors}, {"memory_goes_away", memory_goes_away},
        {"late", late}, {"threads", threads}, {"illumos", illumos}, {"aix", aix}, {"forks", forks},
        {"programs_own_timer", programs_own_timer}, {"descriptors", descriptors}, {"openbsd", openbsd}, {"together", together},
    };
    CHECK(argc == 2);
    for (u64 at = 0; at < sizeof trials / sizeof trials[0]; at++)
        if (!strcmp(argv[1], trials[at].name)) {
            trials[at].run();
            return 0;
        }
    return 1;
}
