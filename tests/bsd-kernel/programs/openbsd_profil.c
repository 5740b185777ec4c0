// The rules of OpenBSD's profil(2), and the file that the kernel writes when the process ends.
#include "bsd.h"

#ifndef WITHOUT_NOTE
__asm__(".pushsection .note.openbsd.profil,\"a\",@note; .balign 4; .long 8, 0, 2; .asciz \"OpenBSD\"; .popsection");
#endif

#define START 0x10000000ul
static struct {
    struct gmonhdr header;
    u16 bins[64];
    struct { u64 from, self, count; } arcs[4];
} buffer;
#define SAMPLES sizeof buffer.bins

static int start(int directory) { return profil(&buffer, sizeof buffer, SAMPLES, START, 65536, directory); }

static void rules(void) {
    int fd = open("a_file", O_RDWR | O_CREAT, 0600);
    CHECK(fd > 2);
    CHECK(profil(&buffer, sizeof buffer, SAMPLES, START, 65537, -1) == -1 && errno == EINVAL);
    CHECK(profil(NULL, 0, 0, 0, 0, -1) == 0);
    CHECK(start(1234) == -1 && errno == EBADF);
    CHECK(start(fd) == -1 && errno == ENOTDIR);
    charge(START, 1);
    CHECK(buffer.bins[0] == 0);
    int directory = open("below", O_RDONLY | O_DIRECTORY);
    CHECK(directory > 2 && start(directory) == 0 && close(directory) == 0);
    CHECK(profil(&buffer, sizeof buffer - 1, SAMPLES, START, 65536, -1) == -1 && errno == EALREADY);
    CHECK(profil(buffer.bins, sizeof buffer, SAMPLES, START, 65536, -1) == -1 && errno == EALREADY);
    // The order of the checks: the scale, the buffer, the descriptor.
    CHECK(profil(buffer.bins, sizeof buffer, SAMPLES, START, 65537, 1234) == -1 && errno == EINVAL);
    CHECK(profil(buffer.bins, sizeof buffer, SAMPLES, START, 65536, 1234) == -1 && errno == EALREADY);
    CHECK(profil(buffer.bins, 1, 1, START, 0, 1234) == 0 && start(-1) == 0);
    // The kernel keeps the first call's directory and ignores the descriptor of a later call.
    CHECK(start(1234) == 0);
    charge(START + 4, 65536 + 7);
    CHECK(profil(NULL, 0, 0, 0, 0, -1) == 0);
    charge(START + 4, 1);
    CHECK(buffer.bins[2] == 7 && start(-1) == 0);
    charge(START + SAMPLES, 1);
}

static void fill(int arcs) {
    buffer.header = (struct gmonhdr){START, START + SAMPLES, (int)(sizeof buffer.header + SAMPLES), 0x51879, 1000, arcs * 24, {0}};
    for (int at = 0; at < 4; at++) {
        buffer.arcs[at].from = START + (u64)at;
        buffer.arcs[at].self = START;
        buffer.arcs[at].count = 1000 + (u64)at;
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    if (!strcmp(argv[1], "note")) {
        CHECK(start(-1) == -1 && errno == EPERM);
        CHECK(profil(&buffer, sizeof buffer, SAMPLES, START, 65537, 1234) == -1 && errno == EPERM);
        CHECK(profil(NULL, 0, 0, 0, 0, -1) == -1 && errno == EPERM);
        return 0;
    }
    if (!strcmp(argv[1], "late_user")) CHECK(setresuid(1001, 1001, 1001) == 0);
    if (!strcmp(argv[1], "wrong_directory")) {
        // The call that fails sets the user.
        CHECK(start(1234) == -1 && errno == EBADF && setresuid(1001, 1001, 1001) == 0);
        int directory = open("below", O_RDONLY | O_DIRECTORY);
        CHECK(start(directory) == 0);
        fill(1);
        return 0;
    }
    rules();
    if (!strcmp(argv[1], "late_user")) fill(1);
    if (!strcmp(argv[1], "early_user")) {
        fill(1);
        CHECK(setresuid(1001, 1001, 1001) == 0);
    }
    if (!strcmp(argv[1], "limit")) {
        fill(2);
        const struct rlimit limit = {sizeof buffer.header + SAMPLES + 24, sizeof buffer.header + SAMPLES + 24};
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    if (!strcmp(argv[1], "umask")) {
        fill(1);
        umask(0777);
    }
    if (!strcmp(argv[1], "no_arcs")) fill(0);
    if (!strcmp(argv[1], "too_many")) fill(5);
    if (!strcmp(argv[1], "end")) fill(2);
    if (!strcmp(argv[1], "pledged")) {
        fill(4);
        CHECK(pledge("stdio", NULL) == 0 && profil(NULL, 0, 0, 0, 0, -1) == 0 && start(-1) == 0);
    }
    if (!strcmp(argv[1], "killed")) {
        fill(4);
        kill(getpid(), SIGKILL);
    }
    if (!strcmp(argv[1], "fork")) {
        fill(1);
        pid_t child = fork();
        charge(START, child ? 1 : 2);
        if (child) CHECK(wait4(child, NULL, 0, NULL) == child);
    }
    return 0;
}
