// Loads a static program: maps the segments, replaces the system call instructions, and lays out the stack.
#include "host.h"

struct header { u8 ident[16]; u16 type, machine; u32 version; u64 entry, phoff, shoff; u32 flags; u16 ehsize, phentsize, phnum; };
struct segment { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; };
#define LOAD 1
#define EXECUTE 1
#define WRITE 2
#define READ 4
#define PAGE 4096ul
#define STACK (8ul << 20)
// mmap: PROT_READ, PROT_WRITE; MAP_PRIVATE, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE.
#define READ_WRITE 3
#define PRIVATE 0x22
#define AT_ADDRESS 0x100000

static void *map(u64 address, u64 size, int flags) {
    long result = linux_call(L_MMAP, (long)address, (long)size, READ_WRITE, PRIVATE | flags, -1, 0);
    if (result < 0) die("cannot map", address);
    return (void *)result;
}

static void read_at(int file, void *to, u64 size, u64 offset) {
    if (LINUX(L_PREAD, file, to, size, offset) != (long)size) die("cannot read the program at", offset);
}

// Replaces each `svc #0` in the text.
static void replace_calls(u32 *text, u64 count) {
    for (u64 at = 0; at < count; at++)
        if (text[at] == 0xd4000001) text[at] = UNDEFINED;
}

// Makes the processor see new instructions.
static void synchronize(u64 start, u64 end) {
    for (u64 at = start; at < end; at += 16) __asm__ volatile("dc cvau, %0; dsb ish; ic ivau, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb ish; isb" : : : "memory");
}

static void load_segment(int file, const struct segment *segment) {
    u64 start = segment->vaddr & ~(PAGE - 1), end = (segment->vaddr + segment->memsz + PAGE - 1) & ~(PAGE - 1);
    map(start, end - start, AT_ADDRESS);
    read_at(file, (void *)segment->vaddr, segment->filesz, segment->offset);
    if (segment->flags & EXECUTE) replace_calls((u32 *)segment->vaddr, segment->filesz / 4);
    int protection = (segment->flags & READ ? 1 : 0) | (segment->flags & WRITE ? 2 : 0) | (segment->flags & EXECUTE ? 4 : 0);
    if (LINUX(L_MPROTECT, start, end - start, protection, 0)) die("cannot protect", start);
    if (segment->flags & EXECUTE) synchronize(start, end);
}

// Lays out argc, argv, the environment and the auxiliary vector, and returns the address of argc.
static u64 lay_out(const struct program *program) {
    u64 *argc = (u64 *)((u8 *)map(0, STACK, 0) + STACK - (64 << 10)), *next = argc + 1;
    char **from = program->argv;
    for (*argc = 0; *from; from++, ++*argc) *next++ = (u64)*from;
    *next++ = 0;
    while (*++from) *next++ = (u64)*from;
    *next++ = 0;
    const u64 auxiliary[] = {3, program->headers, 4, sizeof(struct segment), 5, program->header_count, 6, PAGE, 9, program->entry, 0, 0};
    copy(next, auxiliary, sizeof auxiliary);
    return (u64)argc;
}

u64 load(struct program *program) {
    int file = (int)LINUX(L_OPENAT, AT_FDCWD, program->path, 0, 0);
    struct header header;
    struct segment segments[16];
    if (file < 0) die("cannot open the program: error", (u64)-file);
    read_at(file, &header, sizeof header, 0);
    // A static executable for arm64 with FreeBSD's ABI or with none.
    if (header.type != 2 || header.machine != 183 || (header.ident[7] != 9 && header.ident[7] != 0)) die("not a program: machine", header.machine);
    if (header.phnum > 16) die("too many segments:", header.phnum);
    read_at(file, segments, header.phnum * sizeof segments[0], header.phoff);
    for (u16 at = 0; at < header.phnum; at++) {
        const struct segment *segment = &segments[at];
        if (segment->type == LOAD) load_segment(file, segment);
        if (segment->type == LOAD && segment->offset == 0) program->headers = segment->vaddr + header.phoff;
    }
    LINUX(L_CLOSE, file, 0, 0, 0);
    program->entry = header.entry;
    program->header_count = header.phnum;
    return lay_out(program);
}
