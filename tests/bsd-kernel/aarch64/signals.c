// Signals: the program's handlers, masks and contexts. Only the process itself sends signals. Blocking calls are not
// interrupted.
#include "host.h"

struct action { u64 handler; u32 flags, mask[4], spare; };
#define SIGNALS 128
#define SA_NODEFER 0x10
static struct action actions[SIGNALS + 1];

// The masks and pending signals of threads, and a flag of time.c, by Linux's thread ID.
static struct thread { u32 id, mask[4], pending[4]; int is_awake; } threads[64];

static struct thread *own(void) {
    u32 id = (u32)LINUX(L_GETTID, 0, 0, 0, 0);
    for (u32 at = 0; at < 64; at++)
        if (__atomic_load_n(&threads[at].id, __ATOMIC_SEQ_CST) == id) return &threads[at];
    for (u32 at = 0; at < 64; at++) {
        u32 known = 0;
        if (__atomic_compare_exchange_n(&threads[at].id, &known, id, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            // Ticks wait for new threads, except for the first thread of a process.
            threads[at].is_awake = id != (u32)LINUX(L_GETPID, 0, 0, 0, 0);
            return &threads[at];
        }
    }
    die("too many threads:", id);
}

int *own_flag(void) { return &own()->is_awake; }

// The child of a fork has the thread that called fork, with a new ID.
void forget_other_threads(u32 parent) {
    for (u32 at = 0; at < 64; at++) {
        int is_own = threads[at].id == parent;
        if (!is_own) memset(&threads[at], 0, sizeof threads[at]);
        if (is_own) threads[at].id = (u32)LINUX(L_GETTID, 0, 0, 0, 0);
    }
}

// Makes room for another thread. A new thread blocks no signals.
void forget_thread(void) {
    expect_nothing();
    struct thread *thread = own();
    memset(thread->mask, 0, sizeof thread->mask);
    memset(thread->pending, 0, sizeof thread->pending);
    __atomic_store_n(&thread->id, 0, __ATOMIC_SEQ_CST);
}

static u32 bit(u64 signal) { return 1u << ((signal - 1) % 32); }
static u64 word(u64 signal) { return (signal - 1) / 32; }

long set_action(u64 signal, const void *new, void *old) {
    struct action before = actions[signal <= SIGNALS ? signal : 0];
    if (signal == 0 || signal > SIGNALS || (new && (signal == 9 || signal == 17))) return -22;
    if (new) copy(&actions[signal], new, sizeof before);
    if (old) copy(old, &before, sizeof before);
    return 0;
}

long change_mask(u64 how, const u32 *set, u32 *old) {
    struct thread *thread = own();
    u32 before[4];
    copy(before, thread->mask, sizeof before);
    for (int at = 0; set && at < 4; at++) {
        u32 bits = set[at];
        thread->mask[at] = how == 1 ? before[at] | bits : how == 2 ? before[at] & ~bits : bits;
    }
    if (old) copy(old, before, sizeof before);
    return 0;
}

void pending_set(u32 *set) { copy(set, own()->pending, 16); }

// Sends a signal to the own thread, which gets the signal at the end of the call.
long send(u64 signal) {
    if (signal > SIGNALS) return -22;
    if (signal) __atomic_fetch_or(&own()->pending[word(signal)], bit(signal), __ATOMIC_SEQ_CST);
    return 0;
}

// Sends a signal to another thread of the process.
long send_to(u64 id, u64 signal) {
    if (signal > SIGNALS) return -22;
    for (u32 at = 0; signal && at < 64; at++)
        if (__atomic_load_n(&threads[at].id, __ATOMIC_SEQ_CST) == id) __atomic_fetch_or(&threads[at].pending[word(signal)], bit(signal), __ATOMIC_SEQ_CST);
    return LINUX(L_TGKILL, LINUX(L_GETPID, 0, 0, 0, 0), id, signal ? KICK : 0, 0);
}

// The frame: ucontext, siginfo, and the vector registers, which FreeBSD stores in the ucontext.
#define CONTEXT 960
#define SIGINFO 80
#define FRAME (CONTEXT + SIGINFO + VECTORS)
struct frame { u32 mask[4]; u64 x[30], lr, sp, pc; u32 state; u8 rest[CONTEXT - 284]; u32 signal, error, code, process; u8 info[SIGINFO - 16], vectors[VECTORS]; };
_Static_assert(sizeof(struct frame) >= FRAME, "frame");

void call_sigreturn(void);
__asm__(".globl call_sigreturn; call_sigreturn: mov x0, sp; mov x8, #417; .inst 0x474d");

static void call_handler(struct thread *thread, u64 signal, struct registers *registers, u8 *vectors) {
    struct frame *frame = (struct frame *)((registers->sp - sizeof(struct frame)) & ~15ul);
    *frame = (struct frame){.lr = registers->x[30], .sp = registers->sp, .pc = registers->pc, .state = (u32)registers->state};
    copy(frame->mask, thread->mask, 16);
    copy(frame->x, registers->x, sizeof frame->x);
    copy(frame->vectors, vectors, VECTORS);
    frame->signal = (u32)signal, frame->code = 0x10001, frame->process = (u32)LINUX(L_GETPID, 0, 0, 0, 0);
    for (int at = 0; at < 4; at++) thread->mask[at] |= actions[signal].mask[at];
    if (!(actions[signal].flags & SA_NODEFER)) thread->mask[word(signal)] |= bit(signal);
    registers->x[0] = signal, registers->x[1] = (u64)&frame->signal, registers->x[2] = (u64)frame;
    registers->x[30] = (u64)call_sigreturn, registers->sp = (u64)frame, registers->pc = actions[signal].handler;
}

// Delivers pending signals of the own thread.
void deliver(struct registers *registers, u8 *vectors) {
    struct thread *thread = own();
    for (u64 signal = 1; signal <= SIGNALS; signal++) {
        if (!(thread->pending[word(signal)] & bit(signal))) continue;
        if ((thread->mask[word(signal)] & bit(signal)) && signal != 9) continue;
        __atomic_fetch_and(&thread->pending[word(signal)], ~bit(signal), __ATOMIC_SEQ_CST);
        u64 handler = actions[signal].handler;
        if (handler > 1) call_handler(thread, signal, registers, vectors);
        // SIGURG, SIGCONT, SIGCHLD, SIGIO, SIGWINCH and SIGINFO are ignored by default.
        else if (handler == 0 && !(signal < 30 && (1u << signal & 0x30990000))) LINUX(L_EXIT_GROUP, 128 + signal, 0, 0, 0);
    }
}

long return_from_handler(struct registers *registers, u8 *vectors) {
    const struct frame *frame = (const struct frame *)registers->x[0];
    copy(own()->mask, frame->mask, 16);
    copy(registers->x, frame->x, sizeof frame->x);
    registers->x[30] = frame->lr, registers->sp = frame->sp, registers->pc = frame->pc, registers->state = frame->state;
    copy(vectors, frame->vectors, VECTORS);
    return 0;
}
