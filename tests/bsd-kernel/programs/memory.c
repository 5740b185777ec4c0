// Memory and files.
#include "bsd.h"

#define PAGE 4096
static char page_of_data[2 * PAGE] __attribute__((aligned(PAGE))) = "data";

static void anonymous(void) {
    CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANON, 0, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_SHARED | MAP_ANON, -1, 0) == MAP_FAILED && errno == EINVAL);
    char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    CHECK(memory != MAP_FAILED && memory[3 * PAGE - 1] == 0);
    memset(memory, 1, 3 * PAGE);
    memset(page_of_data, 2, 2 * PAGE);
    // The child gets zeros in the program's data, too.
    CHECK(minherit(memory + PAGE, PAGE, 3) == 0 && minherit(page_of_data, PAGE, 3) == 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK(memory[0] == 1 && memory[PAGE] == 0 && memory[2 * PAGE - 1] == 0 && memory[2 * PAGE] == 1);
        CHECK(page_of_data[0] == 0 && page_of_data[PAGE] == 2);
        _exit(0);
    }
    int status;
    CHECK(wait4(child, &status, 0, NULL) == child && status == 0 && memory[PAGE] == 1 && page_of_data[0] == 2);
    CHECK(munmap(memory, 3 * PAGE) == 0 && write(1, memory, 1) == -1 && errno == EFAULT);
    CHECK(minherit(memory, PAGE, 3) == -1);
}

static void of_files(void) {
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    CHECK(fd > 2 && ftruncate(fd, 2 * PAGE) == 0);
    char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED);
    memcpy(memory + PAGE, "shared", 6);
    char text[8] = "";
    CHECK(lseek(fd, PAGE, 0) == PAGE && read(fd, text, 6) == 6 && !strcmp(text, "shared"));
    CHECK(pwrite(fd, "SH", 2, PAGE) == 2 && memory[PAGE] == 'S');
    struct stat status, other;
    CHECK(fstat(fd, &status) == 0 && status.st_size == 2 * PAGE && status.st_mode == 0100644 && status.st_nlink == 1);
    CHECK(fstatat(AT_FDCWD, "file", &other, 0) == 0 && other.st_ino == status.st_ino && other.st_dev == status.st_dev);
    CHECK(open("nothing", O_RDONLY) == -1 && errno == 2);
    CHECK(unlinkat(AT_FDCWD, "file", 0) == 0 && fstatat(AT_FDCWD, "file", &other, 0) == -1 && close(fd) == 0);
}

int main(void) {
    anonymous();
    of_files();
    return 0;
}
