// Capability mode.
#include "bsd.h"

int main(void) {
    int directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(directory > 2);
    struct clockinfo rates;
    size_t size = sizeof rates;
    const int name[] = {1, 12}, date[] = {1, 24};
    CHECK(cap_enter() == 0);
    CHECK(sysctl(name, 2, &rates, &size, NULL, 0) == -1 && errno == EPERM);
    int value;
    size = sizeof value;
    CHECK(sysctl(date, 2, &value, &size, NULL, 0) == 0 && value >= 1400000);
    CHECK(open("file", O_WRONLY | O_CREAT, 0600) == -1 && errno == ECAPMODE);
    CHECK(openat(AT_FDCWD, "file", O_WRONLY | O_CREAT, 0600) == -1 && errno == ECAPMODE);
    CHECK(openat(directory, "../file", O_WRONLY | O_CREAT, 0600) == -1 && errno == 93);
    CHECK(openat(directory, "/tmp", O_RDONLY) == -1 && errno == 93);
    int fd = openat(directory, "allowed", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd > 2 && write(fd, "x", 1) == 1);
    CHECK(vfork() == -1 && errno == ECAPMODE);
    CHECK(profil(NULL, 0, 0, 0) == 0 && fork() >= 0);
    return 0;
}
