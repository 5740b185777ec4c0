// ld.so, in one shared object with libc.so. Linux has loaded this object and the program. ld.so binds the program's
// names to this object, initializes the C library, runs the constructors, and jumps to the program with the function
// that runs the destructors.
#include "bsd.h"

typedef struct { u64 tag, value; } entry;
struct symbol { u32 name; u8 info, other; u16 section; u64 value, size; };
struct relocation { u64 offset; u32 type, symbol; long addend; };
typedef void (*initializer)(int, char **, char **, void *);

enum { DT_PLTRELSZ = 2, DT_HASH = 4, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL = 23, DT_INIT_ARRAY = 25, DT_FINI_ARRAY,
       DT_INIT_ARRAYSZ, DT_FINI_ARRAYSZ, DT_PREINIT_ARRAY = 32, DT_PREINIT_ARRAYSZ };
enum { R_64 = 1, R_COPY = 5, R_GLOB_DAT, R_JUMP_SLOT, R_RELATIVE };
enum { PT_DYNAMIC = 2 };
enum { AT_PHDR = 3, AT_PHNUM = 5, AT_ENTRY = 9 };

extern const struct header __executable_start __attribute__((visibility("hidden")));
extern const entry _DYNAMIC[] __attribute__((visibility("hidden")));

// An object: the distance of its addresses from those in the file, and its dynamic section.
struct object { u64 bias; const entry *dynamic; };

static u64 value_of(const entry *list, u64 tag) {
    for (; list->tag; list++)
        if (list->tag == tag) return list->value;
    return 0;
}
static void *place_of(struct object object, u64 tag) { return (void *)(object.bias + value_of(object.dynamic, tag)); }

static struct object own(void) { return (struct object){(u64)&__executable_start, _DYNAMIC}; }
static struct object program;

// The symbol with this name in this object.
static const struct symbol *find(const char *name) {
    const struct symbol *symbols = place_of(own(), DT_SYMTAB);
    const char *names = place_of(own(), DT_STRTAB);
    u32 number = ((u32 *)place_of(own(), DT_HASH))[1];
    for (u32 at = 0; at < number; at++)
        if (symbols[at].section && !strcmp(names + symbols[at].name, name)) return &symbols[at];
    return NULL;
}
static u64 address_of(const struct symbol *found) { return found ? own().bias + found->value : 0; }

void *dlsym(void *handle, const char *name) {
    (void)handle;
    return (void *)address_of(find(name));
}

static void relocate(struct object object, u64 table, u64 size) {
    const struct relocation *list = place_of(object, table);
    const struct symbol *symbols = place_of(object, DT_SYMTAB);
    const char *names = place_of(object, DT_STRTAB);
    for (u64 at = 0; at < value_of(object.dynamic, size) / sizeof *list; at++) {
        u64 *word = (u64 *)(object.bias + list[at].offset);
        const struct symbol *symbol = &symbols[list[at].symbol];
        const struct symbol *found = list[at].symbol ? find(names + symbol->name) : NULL;
        switch (list[at].type) {
        case R_RELATIVE: *word = object.bias + (u64)list[at].addend; break;
        case R_64:
        case R_GLOB_DAT:
        case R_JUMP_SLOT: *word = address_of(found) + (u64)list[at].addend; break;
        case R_COPY: memcpy(word, (void *)address_of(found), found->size); break;
        default: __builtin_trap();
        }
    }
}

static void run(int argc, char **argv, char **env, u64 array, u64 size) {
    const initializer *functions = place_of(program, array);
    for (u64 at = 0; at < value_of(program.dynamic, size) / sizeof *functions; at++) functions[at](argc, argv, env, NULL);
}

__attribute__((used)) static u64 load(long *words) {
    int argc = (int)*words;
    char **argv = (char **)(words + 1), **env = argv + argc + 1, **end = env;
    while (*end) end++;
    const entry *auxiliary = (entry *)(end + 1);
    relocate(own(), DT_RELA, DT_RELASZ);
    relocate(own(), DT_JMPREL, DT_PLTRELSZ);
    const struct phdr *headers = (void *)value_of(auxiliary, AT_PHDR);
    u64 number = value_of(auxiliary, AT_PHNUM);
    for (u64 at = 0; at < number; at++)
        if (headers[at].type == PT_DYNAMIC) program.dynamic = (entry *)headers[at].vaddr;
    _libc_initialize(argc, argv, env, headers, number);
    relocate(program, DT_RELA, DT_RELASZ);
    relocate(program, DT_JMPREL, DT_PLTRELSZ);
    run(argc, argv, env, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ);
    run(argc, argv, env, DT_INIT_ARRAY, DT_INIT_ARRAYSZ);
    return value_of(auxiliary, AT_ENTRY);
}

__attribute__((used)) static void finish(void) {
    void (*const *functions)(void) = place_of(program, DT_FINI_ARRAY);
    for (u64 at = value_of(program.dynamic, DT_FINI_ARRAYSZ) / sizeof *functions; at-- > 0;) functions[at]();
}

__asm__(".text; .globl _dl_start; .type _dl_start, @function\n"
        "_dl_start: endbr64; mov %rsp, %rbx; mov %rsp, %rdi; and $-16, %rsp; call load; mov %rbx, %rsp; lea finish(%rip), %rdx;"
        "jmp *%rax");
