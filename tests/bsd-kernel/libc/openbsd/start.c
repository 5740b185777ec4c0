// The C library's work before and after main, and threads. environ, __progname and the thread's block are set only after the function
// in .preinit_array has run.
#include "bsd.h"

struct tib { struct tib *self; void *dtv; struct thread *thread; void *atexit; int error_number, spare0; long spare1; int tid, spare2; long spare3; };
_Static_assert(sizeof(struct tib) == 64, "TIB");
struct thread {
    u32 alive; // 0 when the thread ended
    int id;
    void *(*function)(void *);
    void *argument, *result;
    char *memory;
    struct tib tib;
};
struct header { char ident[16]; u16 type, machine; u32 version; u64 entry, phoff, shoff; u32 flags; u16 ehsize, phentsize, phnum; };
struct phdr { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; };

int __set_tcb(void *);
struct tib *__get_tcb(void);
int futex(volatile u32 *, int, int, const struct timespec *, u32 *);
void __threxit(u32 *) __attribute__((noreturn));
int __tfork_thread(const void *, size_t, void (*)(void *), void *);

char **environ;
const char *__progname = "";
static struct tib first;

int *__errno(void) { return &__get_tcb()->error_number; }
const char *getprogname(void) { return __progname; }

static void preinit(int argc, char **argv, char **env, void *cleanup) {
    (void)cleanup;
    environ = env;
    if (argc > 0)
        for (const char *at = __progname = argv[0]; *at; at++)
            if (*at == '/') __progname = at + 1;
    first = (struct tib){.self = &first};
    __set_tcb(&first);
    first.tid = getthrid();
}
__attribute__((section(".preinit_array"), used)) static void (*const _libc_preinit)(int, char **, char **, void *) = preinit;

extern void (*const __fini_array_start[])(void) __attribute__((weak, visibility("hidden")));
extern void (*const __fini_array_end[])(void) __attribute__((weak, visibility("hidden")));
static void finish(void) {
    for (long at = __fini_array_end - __fini_array_start; at-- > 0;) __fini_array_start[at]();
}

char ***_csu_finish(char **argv, char **env, void (*cleanup)(void)) {
    (void)argv, (void)env;
    if (cleanup) atexit(cleanup);
    atexit(finish);
    return &environ;
}

#define STACK (128 << 10)
static void run(void *argument) {
    struct thread *thread = argument;
    thread->tib.tid = getthrid();
    thread->result = thread->function(thread->argument);
    __threxit(&thread->alive);
}

int pthread_create(pthread_t *place, const void *attributes, void *(*function)(void *), void *argument) {
    (void)attributes;
    char *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return errno;
    struct thread *thread = (struct thread *)memory;
    *thread = (struct thread){.alive = 1, .function = function, .argument = argument, .memory = memory};
    thread->tib.self = &thread->tib;
    thread->tib.thread = thread;
    struct { void *tcb; int *tid; void *stack; } parameters = {&thread->tib, &thread->id, memory + STACK};
    if (__tfork_thread(&parameters, sizeof parameters, run, thread) < 0) return errno;
    *place = thread;
    return 0;
}

int pthread_join(pthread_t thread, void **result) {
    while (__atomic_load_n(&thread->alive, __ATOMIC_SEQ_CST)) futex(&thread->alive, 1, 1, NULL, NULL);
    if (result) *result = thread->result;
    return munmap(thread->memory, STACK);
}

int raise(int signal) { return thrkill(0, signal, NULL); }
