/* OpenBSD's profil: the statements of its page, and the order of its kernel's checks. */
#define _GNU_SOURCE
#ifdef WITHOUT_NOTE
#include <gmon.h>
#include <unistd.h>
#define profil gmon_profil_openbsd
struct gmonhdr {
    unsigned long lpc, hpc;
    int ncnt, version, profrate, totarc, spare[2];
};
#define GMONVERSION 0x00051879
#else
#define GMON_PROFIL_OPENBSD
#include <gmon.h>
#endif

#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "ticks.h"

enum { COUNTS = 1024, SIZE = COUNTS * sizeof(unsigned short), ARCS = 10 * 24, LENGTH = sizeof(struct gmonhdr) + SIZE + ARCS };

static struct gmonhdr *header;
static unsigned short *counts;

static uintptr_t lowest(void) { return (HERE < THERE ? HERE : THERE) & ~(uintptr_t)63; }

/* A buffer that is followed by a wall. */
static void *fresh(void) {
    header = before_a_wall(LENGTH);
    counts = (unsigned short *)(header + 1);
    return header;
}

/* What the C runtime stores there at the end. */
static void finish(int totarc) {
    header->lpc = lowest();
    header->hpc = lowest() + 2 * COUNTS;
    header->ncnt = sizeof *header + SIZE;
    header->version = GMONVERSION;
    header->profrate = 100;
    header->totarc = totarc;
    for (int i = 0; i < 10; i++) {
        unsigned long arc[3] = {HERE, lowest(), 7};
        memcpy((char *)header + sizeof *header + SIZE + 24 * i, arc, 24);
    }
}

static int begin(int dirfd) { return profil(fresh(), LENGTH, SIZE, lowest(), 65536, dirfd); }
static int again(unsigned scale) { return profil(header, LENGTH, SIZE, lowest(), scale, -1); }
static int off(void) { return profil(NULL, 0, 0, 0, 0, -1); }

#define COUNT(pc) (counts[bin_of(pc, lowest(), 65536)])

/* Without the note, every call returns EPERM, whatever else is wrong or right. */
static void every_call_is_eperm(void) {
    CHECK(profil(fresh(), LENGTH, SIZE, lowest(), 65536, -1) == -1 && errno == EPERM);
    CHECK(profil(NULL, 0, 0, 0, 65537, 1000) == -1 && errno == EPERM);
    CHECK(profil(NULL, 0, 0, 0, 0, -1) == -1 && errno == EPERM);
    CHECK(profil(header, LENGTH, SIZE, 0, 1, 1000) == -1 && errno == EPERM);
    finish(24);
}

static void errors_come_in_the_kernels_order(void) {
    int file = open("a file", O_RDWR | O_CREAT, 0644), directory = open(".", O_RDONLY), ends[2];
    CHECK(file >= 0 && directory >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    void *other = before_a_wall(LENGTH);
    fresh();
    /* Of the first call: EINVAL before EBADF and ENOTDIR; and stopping checks nothing. */
#define FIRST(scale, dirfd) profil(header, LENGTH, SIZE, lowest(), scale, dirfd)
    static const unsigned scales[] = {65537, 0x7fffffff, 0x80000000, 0xffffffff};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        CHECK(FIRST(scales[i], 1000) == -1 && errno == EINVAL);
        CHECK(FIRST(scales[i], -1) == -1 && errno == EINVAL);
    }
    CHECK(FIRST(0, 1000) == 0 && FIRST(0, file) == 0 && off() == 0);
    static const int closed[] = {1000, -2, -100, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        CHECK(FIRST(65536, closed[i]) == -1 && errno == EBADF);
    CHECK(FIRST(1, file) == -1 && errno == ENOTDIR);
    CHECK(FIRST(1, ends[0]) == -1 && errno == ENOTDIR);
    CHECK(FIRST(1, STDIN_FILENO) == -1 && errno == ENOTDIR);
    CHECK(close(ends[0]) == 0 && FIRST(1, ends[0]) == -1 && errno == EBADF);
    /* A failed call was not the first: another buffer may come. */
    CHECK(profil(other, LENGTH, SIZE, lowest(), 65536, directory) == 0);
    /* Now the buffer is settled: EINVAL, stopping, EALREADY; directories are no longer checked. */
    CHECK(FIRST(65537, 1000) == -1 && errno == EINVAL);
    CHECK(FIRST(0, 1000) == 0);
    CHECK(FIRST(1, 1000) == -1 && errno == EALREADY);
    CHECK(FIRST(1, -1) == -1 && errno == EALREADY);
    CHECK(profil(other, LENGTH - 1, SIZE, lowest(), 1, -1) == -1 && errno == EALREADY);
    CHECK(profil((char *)other + 2, LENGTH, SIZE, lowest(), 1, -1) == -1 && errno == EALREADY);
    CHECK(profil(other, LENGTH, SIZE, lowest(), 65536, 1000) == 0);
    CHECK(profil(other, LENGTH, SIZE / 2, lowest() + 2, 1, file) == 0); /* everything else may change */
    CHECK(off() == 0);
}

static void a_tick_counts_where_the_relation_says(void) {
    static const unsigned scales[] = {65536, 65535, 32768, 20000, 16384, 3, 2, 1};
    CHECK(begin(-1) == 0 && off() == 0);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        uintptr_t offset = lowest() - i;
        memset(counts, 0, SIZE);
        CHECK(profil(header, LENGTH, SIZE, offset, scales[i], -1) == 0);
        tick(here, 1000);
        CHECK(off() == 0);
        CHECK(is_about(counts[bin_of(HERE, offset, scales[i])], 1000));
        CHECK(is_about(sum(counts, COUNTS), 1000));
    }
    /* The samples follow the header and are samplesize bytes long. */
    for (int size = 0; size < 4; size++) {
        memset(counts, 0, SIZE);
        CHECK(profil(header, LENGTH, size, HERE, 65536, -1) == 0);
        tick(here, 100);
        CHECK(off() == 0 && (size < 2 ? sum(counts, COUNTS) == 0 : is_about(counts[0], 100)));
    }
    memset(counts, 0, SIZE);
    CHECK(profil(header, LENGTH, SIZE, HERE - 2 * COUNTS, 65536, -1) == 0); /* one too far */
    tick(here, 100);
    CHECK(profil(header, LENGTH, SIZE, HERE + 1, 65536, -1) == 0); /* and below the lowest */
    tick(here, 100);
    CHECK(off() == 0 && sum(counts, COUNTS) <= CLOCK);
    for (size_t i = 0; i < sizeof *header; i++)
        CHECK(((char *)header)[i] == 0);
    counts[0] = 65530;
    CHECK(profil(header, LENGTH, SIZE, HERE, 65536, -1) == 0);
    tick(here, 10);
    CHECK(off() == 0 && counts[0] >= 4 && counts[0] <= 4 + CLOCK);
}

/* Sampling stops and begins again, in the same buffer. */
static void scale_0_stops_and_the_buffer_stays(void) {
    CHECK(begin(-1) == 0);
    tick(here, 100);
    CHECK(again(0) == 0);
    long before = sum(counts, COUNTS);
    tick(here, 100);
    CHECK(before >= 100 && sum(counts, COUNTS) == before);
    CHECK(again(65536) == 0);
    tick(here, 100);
    CHECK(off() == 0 && is_about(COUNT(HERE), 200));
    finish(24);
}

/* The ways to the file, each with arcs of as many bytes as the argument. */
static int totarc(void) { return argument != NULL ? atoi(argument) : 24; }

static void stores(void) {
    umask(0);
    CHECK(begin(-1) == 0);
    tick(here, 1000);
    CHECK(off() == 0 && is_about(COUNT(HERE), 1000));
    finish(totarc());
}

static void stores_what_a_handler_at_exit_completes_(void) { finish(24); }
static void stores_what_a_handler_at_exit_completes(void) {
    CHECK(begin(-1) == 0 && atexit(stores_what_a_handler_at_exit_completes_) == 0);
    tick(here, 1000);
}
static int by_destructor;
__attribute__((destructor)) static void completes(void) {
    if (by_destructor)
        finish(24);
}
static void stores_what_a_destructor_completes(void) {
    CHECK(begin(-1) == 0);
    tick(here, 1000);
    by_destructor = 1;
}

static void stores_in_the_directory_of_the_call(void) {
    CHECK(mkdir("there", 0755) == 0 && mkdir("elsewhere", 0755) == 0);
    int there = open("there", O_RDONLY | O_DIRECTORY);
    CHECK(there >= 0 && begin(there) == 0 && close(there) == 0);
    CHECK(open("a file", O_RDWR | O_CREAT, 0644) == there); /* the number now belongs to another process */
    CHECK(rename("there", "renamed") == 0 && chdir("elsewhere") == 0);
    finish(24);
}

static void stores_in_the_directory_where_it_began(void) {
    CHECK(mkdir("elsewhere", 0755) == 0 && mkdir("further", 0755) == 0);
    CHECK(chdir("elsewhere") == 0 && begin(-1) == 0);
    CHECK(chdir("../further") == 0);
    CHECK(again(32768) == 0); /* not the first call */
    finish(24);
}

/* For the superuser: another user in another root directory who may not write there. */
static void stores_after_giving_up_its_rights(void) {
    CHECK(mkdir("empty", 0755) == 0 && chmod(".", 0700) == 0 && begin(-1) == 0);
    finish(24);
    CHECK(chroot("empty") == 0 && chdir("/") == 0);
    CHECK(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
}

static void name_of_file(char *name) {
    sprintf(name, "gmon.%s.%d.out", strrchr(arguments[0], '/') + 1, (int)getpid());
}

/* Obstacles to the file, before or after the first call. */
static void stand_in_the_way(void) {
    char name[300];
    int file = open("target", O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0 && write(file, "precious", 8) == 8);
    name_of_file(name);
    unlink(name);
    if (strstr(argument, "symlink"))
        CHECK(symlink("target", name) == 0);
    else if (strstr(argument, "dangling"))
        CHECK(symlink("nowhere", name) == 0);
    else if (strstr(argument, "hard"))
        CHECK(link("target", name) == 0);
    else if (strstr(argument, "directory"))
        CHECK(mkdir(name, 0700) == 0);
    else if (strstr(argument, "fifo"))
        CHECK(mkfifo(name, 0600) == 0);
    else {
        int other = open(name, O_RDWR | O_CREAT, 0600);
        CHECK(other >= 0 && write(other, "precious", 8) == 8);
        if (strstr(argument, "shared"))
            CHECK(fchmod(other, 0640) == 0);
        else if (strstr(argument, "others"))
            CHECK(fchown(other, 12345, 12345) == 0);
        else
            CHECK(strstr(argument, "ours"));
    }
}
static void stores_unless_something_stands_in_the_way(void) {
    if (strstr(argument, "before"))
        stand_in_the_way();
    CHECK(begin(-1) == 0);
    if (strstr(argument, "after"))
        stand_in_the_way();
    finish(24);
}

/* Parent and child go on with one directory. */
static void stores_for_parent_and_child(void) {
    CHECK(mkdir("elsewhere", 0755) == 0 && begin(-1) == 0);
    tick(here, 100);
    pid_t child = fork();
    CHECK(child >= 0 && chdir("elsewhere") == 0);
    tick(here, child == 0 ? 1000 : 500);
    CHECK(is_about(COUNT(HERE), child == 0 ? 1100 : 600));
    CHECK(profil(counts, LENGTH, SIZE, 0, 1, -1) == -1 && errno == EALREADY);
    finish(24);
    if (child == 0)
        exit(0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    printf("%d\n", (int)child);
}

static int descriptors(void) {
    int open = 0;
    for (int fd = 0; fd < 1024; fd++)
        open += fcntl(fd, F_GETFD) != -1;
    return open;
}
static void after_exec(void) {
    struct sigaction action;
    CHECK(sigaction(SIGNAL_OF_PROFIL, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    CHECK(descriptors() == atoi(argument));
    burn(0.1);
    CHECK(mkdir("fresh", 0755) == 0 && chdir("fresh") == 0);
    CHECK(begin(-1) == 0); /* the first call of a new program */
    finish(24);
}
static void is_dropped_at_exec(void) {
    char before[20];
    sprintf(before, "%d", descriptors());
    CHECK(begin(-1) == 0);
    finish(24);
    burn(0.05);
    execl(arguments[0], arguments[0], "after_exec", before, (char *)NULL);
    CHECK(!"executed");
}

/* Missing memory: at the first tick, later, and at the end. */
static void lost_memory_ends_sampling_and_leaves_no_file(void) {
    void *bad[] = {(void *)8, (void *)(uintptr_t)here, (void *)(UINTPTR_MAX - 60)};
    int which = atoi(argument);
    if (which < 3) {
        CHECK(profil(bad[which], LENGTH, SIZE, lowest(), 65536, -1) == 0); /* that kernel does not check */
        tick(here, 100);
        CHECK(profil(bad[which], LENGTH, SIZE, lowest(), 65536, -1) == 0);
        return;
    }
    char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && profil(memory, LENGTH, SIZE, lowest(), 65536, -1) == 0);
    header = (struct gmonhdr *)memory;
    finish(24);
    tick(here, 100);
    CHECK(munmap(memory, PAGE) == 0);
    tick(here, 100);
    if (which == 3)
        return;
    CHECK(mmap(memory, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
    tick(here, 100);
    CHECK(sum(memory + sizeof *header, COUNTS) == 0);
}

/* The buffer need not be aligned. */
static void an_odd_buffer_is_taken_as_it_is(void) {
    char *memory = before_a_wall(LENGTH + 1);
    CHECK(profil(memory, LENGTH, SIZE, lowest(), 65536, -1) == 0);
    tick(here, 1000);
    CHECK(off() == 0);
    unsigned short count;
    memcpy(&count, memory + sizeof *header + 2 * bin_of(HERE, lowest(), 65536), 2);
    CHECK(is_about(count, 1000));
}

/* With the runtime of cc -pg: the first call was the runtime's. */
TICKS_BY(sampled_here, SIGNAL_OF_RUNTIME);
TICKS_BY(sampled_there, SIGNAL_OF_RUNTIME);
static void the_runtime_has_made_the_first_call(void) {
    CHECK(begin(-1) == -1 && errno == EALREADY);
    CHECK(profil(fresh(), LENGTH, SIZE, lowest(), 65537, 1000) == -1 && errno == EINVAL);
    tick(sampled_here, 1000);
    CHECK(off() == 0);
    tick(sampled_there, 500); /* stopped: the ticks are not visible */
    moncontrol(1);
    tick(sampled_here, 200);
}

TRIALS(TRIAL(every_call_is_eperm), TRIAL(errors_come_in_the_kernels_order), TRIAL(a_tick_counts_where_the_relation_says),
       TRIAL(scale_0_stops_and_the_buffer_stays), TRIAL(stores), TRIAL(stores_what_a_handler_at_exit_completes),
       TRIAL(stores_what_a_destructor_completes), TRIAL(stores_in_the_directory_of_the_call),
       TRIAL(stores_in_the_directory_where_it_began), TRIAL(stores_after_giving_up_its_rights),
       TRIAL(stores_unless_something_stands_in_the_way), TRIAL(stores_for_parent_and_child), TRIAL(after_exec),
       TRIAL(is_dropped_at_exec), TRIAL(lost_memory_ends_sampling_and_leaves_no_file),
       TRIAL(an_odd_buffer_is_taken_as_it_is), TRIAL(the_runtime_has_made_the_first_call))
