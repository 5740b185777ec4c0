// The files that OpenBSD's unveil and chroot leave to a program, and the kernel's file of profil(2), which obeys
// neither. The argument selects the part for a test.
#include "bsd.h"

__asm__(".pushsection .note.openbsd.profil,\"a\",@note; .balign 4; .long 8, 0, 2; .asciz \"OpenBSD\"; .popsection");

static struct {
    struct gmonhdr header;
    u16 bins[64];
    struct { u64 from, self, count; } arcs[1];
} buffer;

static int start(int directory) {
    buffer.header.totarc = sizeof buffer.arcs;
    return profil(&buffer, sizeof buffer, sizeof buffer.bins, 0x10000000, 65536, directory);
}

static int error_of(int result) { return result < 0 ? errno : 0; }
static int opened(const char *path, int flags) { return error_of(open(path, flags, 0600)); }

static void unveils(char **argv) {
    CHECK(start(-1) == 0);
    CHECK(opened("a_file", O_RDWR | O_CREAT) == 0);
    CHECK(error_of(unveil("below", "q")) == EINVAL && error_of(unveil("nowhere/below", "r")) == ENOENT);
    CHECK(unveil("below", "rwc") == 0);
    CHECK(opened("below/new", O_RDWR | O_CREAT) == 0 && opened("a_file", O_RDONLY) == ENOENT);
    // The link in the test's directory leads to a_file.
    CHECK(opened("below/link", O_RDONLY) == ENOENT && opened("below/../a_file", O_RDONLY) == ENOENT);
    CHECK(unveil("below", "r") == 0 && opened("below/new", O_RDONLY) == 0);
    CHECK(opened("below/new", O_WRONLY) == EACCES && error_of(unlinkat(AT_FDCWD, "below/new", 0)) == EACCES);
    CHECK(error_of(unveil("below", "rw")) == EPERM);
    char *const again[] = {argv[0], "again", NULL};
    CHECK(error_of(execve(argv[0], again, environ)) == ENOENT);
    CHECK(unveil("openbsd_files", "x") == 0 && unveil(NULL, NULL) == 0 && error_of(unveil("a_file", "r")) == EPERM);
    pid_t child = fork();
    if (child == 0) _exit(opened("a_file", O_RDONLY));
    int status;
    CHECK(wait4(child, &status, 0, NULL) == child && status == ENOENT << 8);
    // exec removes all limits, in the child only.
    child = fork();
    if (child == 0) _exit(execve(argv[0], again, environ));
    CHECK(wait4(child, &status, 0, NULL) == child && status == 7 << 8);
    CHECK(opened("a_file", O_RDONLY) == ENOENT);
    CHECK(pledge("stdio rpath", NULL) == 0);
}

static void roots(void) {
    CHECK(start(-1) == 0);
    CHECK(opened("a_file", O_RDWR | O_CREAT) == 0);
    CHECK(opened("below/inside", O_RDWR | O_CREAT) == 0);
    CHECK(chroot("below") == 0);
    // The current directory stays outside.
    CHECK(opened("a_file", O_RDONLY) == 0 && opened("/inside", O_RDONLY) == 0 && opened("/a_file", O_RDONLY) == ENOENT);
    CHECK(chdir("/") == 0 && opened("inside", O_RDONLY) == 0);
    CHECK(opened("../a_file", O_RDONLY) == ENOENT && opened("/../a_file", O_RDONLY) == ENOENT);
    CHECK(setresuid(1001, 1001, 1001) == 0 && getuid() == 1001);
    CHECK(error_of(setresuid(0, 0, 0)) == EPERM && error_of(chroot("/")) == EPERM);
    // A later call of profil does not move the file.
    CHECK(start(-1) == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    if (!strcmp(argv[1], "again")) return opened("a_file", O_RDONLY) == 0 ? 7 : 8;
    if (!strcmp(argv[1], "unveil")) unveils(argv);
    if (!strcmp(argv[1], "chroot")) roots();
    if (!strcmp(argv[1], "user")) CHECK(getuid() == 1001 && error_of(chroot("below")) == EPERM);
    return 0;
}
