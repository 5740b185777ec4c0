// A program that maps shared objects itself, calls their functions, and unmaps the objects as a dynamic linker does:
// `dlclose` of the runtime finds this program's `dlclose` by `dlsym`, and reads the list of objects by
// `dl_iterate_phdr`.
#include "bsd.h"

#define PART __attribute__((noinline, used))
#define BASE ((char *)0x600000000)
struct phdr { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; };
struct object {
    const char *name;
    char *start;
    const struct phdr *headers;
    u16 count;
    u64 length;
    const void *(*entry)(int);
};
extern const struct { u8 start[32]; u64 headers; u8 more[16]; u16 count; } __ehdr_start;
void mcount(void) __asm__(".mcount");

#define MOST 4
static struct object objects[MOST];
static int number;
static u64 added = 1, removed;

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data) {
    struct dl_phdr_info info = {0, __progname, (char *)&__ehdr_start + __ehdr_start.headers, __ehdr_start.count, added, removed, 1, NULL};
    int result = callback(&info, sizeof info, data);
    for (int at = 0; at < number && result == 0; at++) {
        struct object *object = &objects[at];
        info = (struct dl_phdr_info){(u64)object->start, object->name, object->headers, object->count, added, removed, 0, NULL};
        result = callback(&info, sizeof info, data);
    }
    return result;
}

static struct object *load(const char *name, char *start) {
    int file = open(name, O_RDONLY);
    CHECK(file >= 0);
    char *head = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    CHECK(head != MAP_FAILED);
    const struct phdr *headers = (void *)(head + *(u64 *)(head + 32));
    struct object *object = &objects[number++];
    *object = (struct object){name, start, (void *)(start + *(u64 *)(head + 32)), *(u16 *)(head + 56), 0, NULL};
    for (u16 at = 0; at < object->count; at++) {
        const struct phdr *header = &headers[at];
        if (header->type != 1) continue;
        u64 from = header->vaddr & ~4095ul, to = header->vaddr + header->filesz;
        int protection = (header->flags & 1 ? 4 : 0) | (header->flags & 2) | PROT_READ;
        char *place = mmap(start + from, to - from, protection, MAP_PRIVATE | MAP_FIXED, file, header->offset & ~4095ul);
        CHECK(place == start + from);
        object->length = to;
    }
    object->entry = (void *)(start + *(u64 *)(head + 24));
    CHECK(munmap(head, 4096) == 0 && close(file) == 0);
    added++;
    ((void (*)(void *))object->entry(0))(mcount);
    return object;
}

int dlclose(void *);
static int close_object(void *handle) {
    struct object *object = handle;
    CHECK(munmap(object->start, object->length) == 0);
    for (int at = (int)(object - objects); at + 1 < number; at++) objects[at] = objects[at + 1];
    number--;
    removed++;
    return 0;
}
void *dlsym(void *handle, const char *name) { return handle == (void *)-1 && !strcmp(name, "dlclose") ? (void *)close_object : NULL; }

PART void called_back(void) { __asm__ volatile(""); }
PART void use(struct object *object, u64 count, int times) {
    for (int turn = 0; turn < times; turn++) ((void (*)(void))object->entry(1))();
    ((void (*)(u64))object->entry(2))(count);
    ((void (*)(void (*)(void), int))object->entry(3))(called_back, 10 * times);
}

// The second object has the addresses of the first.
static void closes(void) {
    struct object *first = load("first.so", BASE);
    use(first, 8128, 3);
    CHECK(dlclose(first) == 0);
    struct object *second = load("second.so", BASE);
    use(second, 2 * 8128, 5);
    CHECK(dlclose(second) == 0);
    use(load("first.so", BASE), 8128, 4);
}

static void stays(void) { use(load("first.so", BASE), 8128, 3); }

static void confined(void) {
    stays();
    CHECK(cap_enter() == 0);
}

// A fatal signal writes the profiles too, and the child of a fork has its own.
static void dies(void) {
    struct object *object = load("first.so", BASE);
    use(object, 8128, 3);
    pid_t child = fork();
    if (child == 0) {
        use(object, 8128, 1);
        raise(15);
    }
    int status = -1;
    CHECK(child > 0 && wait4(child, &status, 0, NULL) == child && status == 15);
    raise(15);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    if (!strcmp(argv[1], "closes")) closes();
    if (!strcmp(argv[1], "stays")) stays();
    if (!strcmp(argv[1], "confined")) confined();
    if (!strcmp(argv[1], "dies")) dies();
    return 0;
}
