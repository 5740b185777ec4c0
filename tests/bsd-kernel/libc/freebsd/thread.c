// Thread-local storage by variant II on amd64 and variant I on arm64, threads by thr_new, and the program's headers.
#include "start.h"

struct auxv { u64 tag, value; };

int sysarch(int, void *);
int thr_new(void *, int);
int _umtx_op(void *, int, u64, void *, void *);
#define SET_FSBASE 129
#define UMTX_OP_WAIT 2

struct program program;
static const struct phdr *tls;
static struct thread first;
static __thread int error_number;

int *__error(void) { return &error_number; }

static size_t round_up(size_t size, size_t to) { return to ? (size + to - 1) / to * to : size; }

size_t tls_room(void) { return (tls ? round_up(tls->memsz, tls->align) + tls->align : 0) + sizeof(struct tcb) + 64; }

#ifdef __aarch64__
// The thread pointer leads to the dtv and the thread; the thread's block follows.
struct tcb *make_tls(char *end, struct thread *thread) {
    size_t align = tls && tls->align > 16 ? tls->align : 16;
    size_t size = align + (tls ? round_up(tls->memsz, align) : 0);
    char *tcb = (char *)((u64)(end - size) / align * align);
    if (tls) memcpy(tcb + align, (void *)(program.base + tls->vaddr), tls->filesz);
    ((void **)tcb)[1] = thread;
    return (struct tcb *)tcb;
}
static void set_thread_pointer(struct tcb *tcb) { __asm__ volatile("msr tpidr_el0, %0" : : "r"(tcb) : "memory"); }
#else
struct tcb *make_tls(char *end, struct thread *thread) {
    size_t align = tls && tls->align > 16 ? tls->align : 16;
    struct tcb *tcb = (struct tcb *)((u64)(end - sizeof(struct tcb)) / align * align);
    if (tls) memcpy((char *)tcb - round_up(tls->memsz, tls->align), (void *)(program.base + tls->vaddr), tls->filesz);
    *tcb = (struct tcb){tcb, NULL, thread};
    return tcb;
}
static void set_thread_pointer(struct tcb *tcb) { sysarch(SET_FSBASE, &tcb); }
#endif

void find_program(char **env) {
    while (*env) env++;
    for (const struct auxv *aux = (void *)(env + 1); aux->tag; aux++) {
        if (aux->tag == 3) program.headers = (void *)aux->value;
        if (aux->tag == 5) program.count = (u16)aux->value;
    }
    for (u16 at = 0; at < program.count; at++)
        if (program.headers[at].type == PT_PHDR) program.base = (u64)program.headers - program.headers[at].vaddr;
}

void init_tls(char **env) {
    find_program(env);
    for (u16 at = 0; at < program.count; at++)
        if (program.headers[at].type == PT_TLS) tls = &program.headers[at];
    // errno is not available yet; the calls cannot fail.
    size_t size = round_up(tls_room(), 4096);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    set_thread_pointer(make_tls(memory + size, &first));
    thr_self(&first.id);
}

#define STACK (128 << 10)
struct parameters {
    void (*start)(void *);
    void *argument;
    char *stack;
    size_t stack_size;
    char *tls;
    size_t tls_size;
    long *child, *parent;
    int flags;
    void *rtp, *spare[3];
};

static void run(void *argument) {
    struct thread *thread = argument;
    thread->result = thread->function(thread->argument);
    thr_exit(&thread->state);
    // The call returns in the last thread.
    _exit(0);
}

int pthread_create(pthread_t *place, const void *attributes, void *(*function)(void *), void *argument) {
    (void)attributes;
    size_t size = STACK + round_up(tls_room() + sizeof(struct thread), 4096);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (memory == MAP_FAILED) return errno;
    struct thread *thread = (struct thread *)(memory + STACK);
    *thread = (struct thread){.function = function, .argument = argument, .memory = memory, .size = size};
    struct tcb *tcb = make_tls(memory + size, thread);
    struct parameters parameters = {run, thread, memory, STACK, (char *)tcb, tls_room(), &thread->id, &thread->id, 0, NULL, {0}};
    if (thr_new(&parameters, sizeof parameters) != 0) return errno;
    *place = thread;
    return 0;
}

int pthread_join(pthread_t thread, void **result) {
    long state;
    while ((state = __atomic_load_n(&thread->state, __ATOMIC_SEQ_CST)) == 0)
        _umtx_op(&thread->state, UMTX_OP_WAIT, 0, NULL, NULL);
    if (result) *result = thread->result;
    return munmap(thread->memory, thread->size);
}

// As libc's function in a program without libthr: nothing happens at a fork.
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    (void)prepare, (void)parent, (void)child;
    return 0;
}

int raise(int signal) {
    long id;
    thr_self(&id);
    return thr_kill(id, signal);
}

// Weak, because a program may report more objects.
__attribute__((weak)) int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data) {
    struct dl_phdr_info info = {program.base, __progname, program.headers, program.count, 1, 0, tls ? 1 : 0, NULL};
    return callback(&info, sizeof info, data);
}
