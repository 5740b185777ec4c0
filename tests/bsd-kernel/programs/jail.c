// A jail without rights.
#include "bsd.h"

static int read_variable(const int *name, u32 count) {
    static char value[1 << 16];
    size_t size = sizeof value;
    return sysctl(name, count, value, &size, NULL, 0);
}

static int has_no_mappings(void) {
    const int mappings[] = {1, 14, 32, getpid()};
    return read_variable(mappings, 4) == -1 && errno == EPERM;
}

int main(void) {
    const int rates[] = {1, 12}, processors[] = {6, 3}, host[] = {1, 10};
    const int arguments[] = {1, 14, 7, getpid()}, path[] = {1, 14, 12, -1};
    CHECK(read_variable(rates, 2) == 0 && read_variable(processors, 2) == 0 && read_variable(host, 2) == 0);
    CHECK(read_variable(arguments, 4) == 0 && read_variable(path, 4) == 0);
    CHECK(has_no_mappings());
    // The superuser of the jail has no privileges.
    CHECK(chroot(".") == -1 && errno == EPERM);
    static u16 bins[4];
    CHECK(profil((char *)bins, sizeof bins, 0x10000000, 65536) == 0);
    charge(0x10000000, 3);
    CHECK(bins[0] == 3);
    struct itimerval timer = {{0, 10000}, {0, 10000}};
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    int status;
    pid_t child = fork();
    if (child == 0) _exit(has_no_mappings() ? 4 : 0);
    CHECK(wait4(child, &status, 0, NULL) == child && status == 4 << 8);
    return 0;
}
