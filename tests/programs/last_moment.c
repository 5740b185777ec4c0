/*
 * Samples itself, and loses the means to write files before it ends: last_moment [dump] [FILE].
 *
 * With `dump`, the program writes a snapshot after 3 of 5 calls of `counted`. With FILE, it fills the disk with this
 * file at the end.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <gmon.h>
#include "sample.h"

enum { SAMPLES = 100 };

__attribute__((noinline)) void counted(void) {
    for (int i = 0; i < SAMPLES; i++) {
        SAMPLE((long)getpid(), (long)getpid());
        if (sample_result != 0)
            _exit(9);
    }
}

static void call(int times) {
    while (times-- > 0)
        counted();
}

/* Writes pieces of half the size until not even a byte fits. */
static void fill(const char *path) {
    static char piece[1 << 16];
    int file = open(path, O_WRONLY | O_CREAT, 0666);
    for (size_t size = sizeof piece; size > 0; size /= 2)
        while (write(file, piece, size) > 0)
            ;
}

int main(int argc, char **argv) {
    call(3);
    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        gmon_dump();
        argv++, argc--;
    }
    call(2);
    if (argc > 1)
        fill(argv[1]);
    return 0;
}
