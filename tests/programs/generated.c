/* Generates code: copies machine code into memory that belongs to no file, and calls the copies.

   generated MAP NAME=TICKS...    Makes a copy of the code for each NAME. Each copy sends the thread the sampling signal
                                  so many times, and has the signals in its own code. With 1 for MAP, the program
                                  writes its perf map file.

   Prints the number of the process. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* void code(long times, long process, long thread): a function with a frame pointer. */
#ifdef __aarch64__
static const unsigned int code[] = {
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0x910003fd, /* mov x29, sp */
    0xaa0003e9, /* mov x9, x0 */
    0xaa0103ea, /* mov x10, x1 */
    0xaa0203e1, /* mov x1, x2 */
    0xd2800782, /* mov x2, #60 */
    0xd2801068, /* mov x8, #131: tgkill */
    0xaa0a03e0, /* again: mov x0, x10 */
    0xd4000001, /* svc #0 */
    0xf1000529, /* subs x9, x9, #1 */
    0x54ffffa1, /* b.ne again */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xd65f03c0, /* ret */
};
#else
static const unsigned char code[] = {
    0x55,                         /* push %rbp */
    0x48, 0x89, 0xe5,             /* mov %rsp, %rbp */
    0x49, 0x89, 0xf8,             /* mov %rdi, %r8 */
    0x48, 0x89, 0xf7,             /* mov %rsi, %rdi */
    0x48, 0x89, 0xd6,             /* mov %rdx, %rsi */
    0xba, 0x3c, 0x00, 0x00, 0x00, /* mov $60, %edx */
    0xb8, 0xea, 0x00, 0x00, 0x00, /* again: mov $234, %eax: tgkill */
    0x0f, 0x05,                   /* syscall */
    0x49, 0xff, 0xc8,             /* dec %r8 */
    0x75, 0xf4,                   /* jne again */
    0x5d,                         /* pop %rbp */
    0xc3,                         /* ret */
};
#endif

typedef void Function(long times, long process, long thread);

int main(int count, char **words) {
    size_t size = 1 << 16;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char path[64];
    if (memory == MAP_FAILED || count < 2)
        return 1;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE *map = words[1][0] == '1' ? fopen(path, "w") : NULL;
    for (int at = 2; at < count; at++) {
        char *place = memory + 256 * at;
        memcpy(place, code, sizeof code);
        if (map)
            fprintf(map, "%lx %zx %.*s\n", (unsigned long)place, sizeof code, (int)strcspn(words[at], "="), words[at]);
    }
    if (map)
        fclose(map);
    if (mprotect(memory, size, PROT_READ | PROT_EXEC))
        return 1;
    __builtin___clear_cache(memory, memory + size);
    for (int at = 2; at < count; at++)
        ((Function *)(memory + 256 * at))(atol(strchr(words[at], '=') + 1), getpid(), syscall(SYS_gettid));
    printf("%d\n", getpid());
    return 0;
}
