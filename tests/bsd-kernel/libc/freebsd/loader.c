// The work of FreeBSD's dynamic linker for a program that needs no other object. `ld.lld -e loader_start` links this
// dynamic linker into the program itself, which has a dynamic section and no interpreter. Only for amd64.
//
// Source: libexec/rtld-elf/rtld.c (`_rtld`, `preinit_main`, `objlist_call_init`, `rtld_nop_exit`),
// libexec/rtld-elf/amd64/rtld_start.S. Seen on FreeBSD 15.1 (amd64): the order of the arrays, `__libc_atexit` and
// `_start`, and the cleanup function that does nothing.
#ifndef __aarch64__
#include "start.h"

struct dynamic { long tag; u64 value; };
struct rela { u64 offset, info, addend; };
struct note { u32 name_size, size, type; char name[8]; };
#define DT_RELA 7
#define DT_RELASZ 8
#define R_X86_64_GLOB_DAT 6
#define R_X86_64_RELATIVE 8
#define NO_INIT 2
extern const struct dynamic _DYNAMIC[] __attribute__((weak, visibility("hidden")));

static void relocate(void) {
    u64 table = 0, size = 0;
    for (const struct dynamic *at = _DYNAMIC; at->tag; at++) {
        if (at->tag == DT_RELA) table = program.base + at->value;
        if (at->tag == DT_RELASZ) size = at->value;
    }
    for (const struct rela *rela = (const struct rela *)table; size > 0; rela++, size -= sizeof *rela) {
        u64 *place = (u64 *)(program.base + rela->offset);
        if (rela->info == R_X86_64_RELATIVE) *place = program.base + rela->addend;
        // Only weak symbols without definition are left; their addresses are 0.
        else if ((u32)rela->info != R_X86_64_GLOB_DAT) _exit(97);
    }
}

// Whether the program has the note that says that `_start` runs no constructors. Otherwise, rtld leaves the
// constructors to `_start`.
static int has_no_init(void) {
    for (u16 at = 0; at < program.count; at++) {
        const struct phdr *header = &program.headers[at];
        u64 note = program.base + header->vaddr, end = note + header->memsz;
        while (header->type == PT_NOTE && note < end) {
            const struct note *found = (const struct note *)note;
            if (found->type == NO_INIT && found->name_size == 8 && !strcmp(found->name, "FreeBSD")) return 1;
            note += 12 + ((found->name_size + 3) & ~3u) + ((found->size + 3) & ~3u);
        }
    }
    return 0;
}

// libc's private function for rtld.
int __libc_atexit(void (*function)(void)) { return atexit(function); }

static void rtld_exit(void) { run_destructors(); }
static void rtld_nop_exit(void) {}

// Returns the cleanup function for `_start`. Older dynamic linkers leave the registration of their end to `_start`.
__attribute__((used)) static void (*load(long *argc, int is_old))(void) {
    char **argv = (char **)(argc + 1), **env = argv + *argc + 1;
    find_program(env);
    relocate();
    set_names((int)*argc, argv, env);
    init_tls(env);
    run_preinit_array((int)*argc, argv, env);
    if (!is_old) __libc_atexit(rtld_exit);
    if (has_no_init()) run_constructors((int)*argc, argv, env);
    return is_old ? rtld_exit : rtld_nop_exit;
}

void loader_start(void), old_loader_start(void);
__asm__(".text; .globl loader_start, old_loader_start; .type loader_start, @function; .type old_loader_start, @function\n"
        "old_loader_start: mov $1, %esi; jmp 1f\n"
        "loader_start: xor %esi, %esi\n"
        "1: xor %ebp, %ebp; mov %rdi, %rbx; mov %rsp, %r12; and $-16, %rsp; call load;"
        "mov %rbx, %rdi; mov %rax, %rsi; mov %r12, %rsp; jmp _start");
#endif
