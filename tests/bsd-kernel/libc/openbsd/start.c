// The C library's work before and after main, and threads. environ, __progname and the thread's block are set only
// after the function in .preinit_array has run.
#include "bsd.h"

struct tib { struct tib *self; void *dtv; struct thread *thread; void *atexit; int error_number, spare0; long spare1; int tid, spare2; long spare3; };
_Static_assert(sizeof(struct tib) == 64, "TIB");
struct thread {
    u32 alive; // 0 when the thread ended
    int id;
    void *(*function)(void *);
    void *argument, *result;
    char *memory;
    size_t size;
};
int __set_tcb(void *);
struct tib *__get_tcb(void);
int futex(volatile u32 *, int, int, const struct timespec *, u32 *);
void __threxit(u32 *) __attribute__((noreturn));
int __tfork_thread(const void *, size_t, void (*)(void *), void *);

char **environ;
const char *__progname = "";
static const struct phdr *tls;
extern const struct header __executable_start __attribute__((visibility("hidden")));

static size_t round_up(size_t size, size_t to) { return to ? (size + to - 1) / to * to : size; }

// Thread-local storage by variant II: the program's block ends where the thread's begins.
static size_t tls_room(void) { return (tls ? round_up(tls->memsz, tls->align) + tls->align : 0) + sizeof(struct tib) + 64; }

static struct tib *make_tls(char *end, struct thread *thread) {
    size_t align = tls && tls->align > 16 ? tls->align : 16;
    struct tib *tib = (struct tib *)((u64)(end - sizeof(struct tib)) / align * align);
    if (tls) memcpy((char *)tib - round_up(tls->memsz, tls->align), (void *)tls->vaddr, tls->filesz);
    *tib = (struct tib){.self = tib, .thread = thread};
    return tib;
}

int *__errno(void) { return &__get_tcb()->error_number; }
const char *getprogname(void) { return __progname; }

void _libc_initialize(int argc, char **argv, char **env, const struct phdr *headers, u64 number) {
    environ = env;
    if (argc > 0)
        for (const char *at = __progname = argv[0]; *at; at++)
            if (*at == '/') __progname = at + 1;
    for (u64 at = 0; at < number; at++)
        if (headers[at].type == 7) tls = &headers[at];
    size_t size = round_up(tls_room(), 4096);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    struct tib *first = make_tls(memory + size, NULL);
    __set_tcb(first);
    first->tid = getthrid();
}

#ifndef DYNAMIC
static void preinit(int argc, char **argv, char **env, void *cleanup) {
    (void)cleanup;
    // There is no auxiliary vector in such programs: the headers are behind the start of the executable file.
    const struct phdr *headers = (void *)((char *)&__executable_start + __executable_start.phoff);
    _libc_initialize(argc, argv, env, headers, __executable_start.phnum);
}
__attribute__((section(".preinit_array"), used)) static void (*const _libc_preinit)(int, char **, char **, void *) = preinit;
#endif

char ***_csu_finish(char **argv, char **env, void (*cleanup)(void)) {
    (void)argv, (void)env;
    if (cleanup) atexit(cleanup);
    return &environ;
}

#define STACK (128 << 10)
static void run(void *argument) {
    struct thread *thread = argument;
    __get_tcb()->tid = getthrid();
    thread->result = thread->function(thread->argument);
    __threxit(&thread->alive);
}

int pthread_create(pthread_t *place, const void *attributes, void *(*function)(void *), void *argument) {
    (void)attributes;
    size_t size = STACK + round_up(tls_room() + sizeof(struct thread), 4096);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return errno;
    struct thread *thread = (struct thread *)(memory + STACK);
    *thread = (struct thread){.alive = 1, .function = function, .argument = argument, .memory = memory, .size = size};
    struct { void *tcb; int *tid; void *stack; } parameters = {make_tls(memory + size, thread), &thread->id, memory + STACK};
    if (__tfork_thread(&parameters, sizeof parameters, run, thread) < 0) return errno;
    *place = thread;
    return 0;
}

int pthread_join(pthread_t thread, void **result) {
    while (__atomic_load_n(&thread->alive, __ATOMIC_SEQ_CST)) futex(&thread->alive, 1, 1, NULL, NULL);
    if (result) *result = thread->result;
    return munmap(thread->memory, thread->size);
}

// fork(2), with the functions that _thread_atfork registered: the last one first before, the first one first
// afterwards.
static struct { void (*before)(void), (*parent)(void), (*child)(void); } around_fork[8];
static int around;
int _thread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object) {
    (void)object;
    if (around == 8) return 12;
    around_fork[around].before = before, around_fork[around].parent = parent, around_fork[around++].child = child;
    return 0;
}

pid_t _thread_sys_fork(void);
pid_t fork(void) {
    for (int at = around; at-- > 0;) around_fork[at].before();
    pid_t process = _thread_sys_fork();
    if (process == 0) __get_tcb()->tid = getthrid();
    for (int at = 0; at < around; at++) process == 0 ? around_fork[at].child() : around_fork[at].parent();
    return process;
}

int raise(int signal) { return thrkill(0, signal, NULL); }
