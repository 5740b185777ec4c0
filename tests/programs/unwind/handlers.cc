// Calls a probe from places where a stack is hard to walk. The test loads this object, and its probe raises a signal.
#include <cstdlib>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <sys/mman.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#define SCENARIO extern "C" NOINLINE void

typedef void Probe();
static Probe *probe;
static volatile int sink;

static void call() {
	probe();
	sink++;
}

NOINLINE static void recursion(int n) {
	if (n == 0)
		call();
	else
		recursion(n - 1);
	sink++;
}

extern "C" NOINLINE int compare(const void *a, const void *b) {
	if (sink++ == 0)
		call();
	return *(const int *)a - *(const int *)b;
}

SCENARIO in_qsort(Probe *p) {
	int numbers[] = {3, 1, 2, 5, 4, 7, 6};
	probe = p;
	sink = 0;
	qsort(numbers, 7, sizeof *numbers, compare);
	sink++;
}

struct Guard {
	~Guard() { recursion(2); }
};

NOINLINE static void throws(int n) {
	Guard guard;
	alignas(64) volatile int place[16] = {};
	if (n == 0)
		throw std::runtime_error("here");
	throws(n - 1);
	sink += place[n];
}

SCENARIO in_cleanup(Probe *p) {
	probe = p;
	try {
		throws(2);
	} catch (const std::exception &) {
		recursion(1);
	}
	sink++;
}

static void handle(int) { recursion(3); }

static void catch_on_other_stack(void *memory, size_t size) {
	stack_t stack = {};
	stack.ss_sp = memory;
	stack.ss_size = size;
	sigaltstack(&stack, nullptr);
	struct sigaction action = {};
	action.sa_handler = handle;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, nullptr);
}

static char above[65536];

NOINLINE static void raises() {
	catch_on_other_stack(above, sizeof above);
	raise(SIGUSR2);
	stack_t none = {};
	none.ss_flags = SS_DISABLE;
	sigaltstack(&none, nullptr);
}

SCENARIO on_signal_stack(Probe *p) {
	probe = p;
	raises();
	sink++;
}

static void *thread(void *) {
	recursion(5);
	return nullptr;
}

// The signal stack is in the frame of the function that is interrupted, so addresses grow and then shrink.
SCENARIO on_signal_stack_inside(Probe *p) {
	char inside[65536];
	probe = p;
	catch_on_other_stack(inside, sizeof inside);
	raise(SIGUSR2);
	stack_t none = {};
	none.ss_flags = SS_DISABLE;
	sigaltstack(&none, nullptr);
	sink++;
}

SCENARIO in_small_thread(Probe *p) {
	pthread_attr_t attributes;
	pthread_t started;
	probe = p;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	if (pthread_create(&started, &attributes, thread, nullptr) != 0)
		abort();
	pthread_join(started, nullptr);
}

static ucontext_t outside, coroutine;
static char space[65536];

static void body() {
	recursion(4);
	swapcontext(&coroutine, &outside);
	recursion(6);
}

SCENARIO in_coroutine(Probe *p) {
	probe = p;
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = space;
	coroutine.uc_stack.ss_size = sizeof space;
	coroutine.uc_link = &outside;
	makecontext(&coroutine, body, 0);
	swapcontext(&outside, &coroutine);
	recursion(1);
	swapcontext(&outside, &coroutine);
	sink++;
}

SCENARIO deep(Probe *p) {
	probe = p;
	recursion(3000);
}

// Far deeper than a walk goes.
SCENARIO deeper(Probe *p) {
	probe = p;
	recursion(20000);
}

// The levels have frames of different sizes, so no level can be left out.
NOINLINE static void irregular_recursion(int n) {
	volatile char *place = (volatile char *)__builtin_alloca(16 + n * 2 % 13 * 16);
	place[0] = 1;
	if (n == 0)
		call();
	else
		irregular_recursion(n - 1);
	sink += place[0];
}

SCENARIO irregular(Probe *p) {
	probe = p;
	irregular_recursion(5000);
}

// Calls its first argument with the second in rbp, with a table.
asm(".text\n.type with_table, @function\nwith_table:\n"
    ".cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsi, %rbp\ncall *%rdi\npop %rbp\n"
    ".cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.size with_table, . - with_table\n");
// The same without a table, and with something between the call and the return.
asm(".type without_table, @function\nwithout_table:\n"
    "push %rbp\nmov %rsi, %rbp\ncall *%rdi\nnop\npop %rbp\nret\n.size without_table, . - without_table\n");
// Without a table, but with a frame pointer.
asm(".type with_frame, @function\nwith_frame:\n"
    "push %rbp\nmov %rsp, %rbp\nsub $48, %rsp\ncall *%rdi\nnop\nleave\nret\n.size with_frame, . - with_frame\n");
// Without a table, and right before the return.
asm(".type before_return, @function\nbefore_return:\n"
    "push %rbp\nsub $48, %rsp\nmov %rsi, %rbp\ncall *%rdi\nadd $48, %rsp\npop %rbp\nret\n"
    ".size before_return, . - before_return\n");
extern "C" void with_table(void (*)(), void *), without_table(void (*)(), void *), with_frame(void (*)());
extern "C" void before_return(void (*)(), void *);

SCENARIO garbage_with_table(Probe *p) {
	probe = p;
	with_table(call, (void *)0x1234567890);
	sink++;
}

SCENARIO frame_without_table(Probe *p) {
	probe = p;
	with_frame(call);
	sink++;
}

SCENARIO return_without_table(Probe *p) {
	probe = p;
	before_return(call, (void *)0x1234567890);
	sink++;
}

SCENARIO garbage_without_table(Probe *p) {
	int *heap = (int *)calloc(1, 4096);
	void *none = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *values[] = {(void *)0x1234567890, (void *)-8, (void *)8, heap, none, (void *)call, (char *)&values + 1, &values,
	                  (void *)0x7fffffffffff};
	probe = p;
	for (void *value : values)
		without_table(call, value);
	free(heap);
	sink++;
}

// Code of a JIT compiler: push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret, once more with a nop.
SCENARIO jit(Probe *p) {
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x90, 0x5d, 0xc3};
	unsigned char *memory = (unsigned char *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	probe = p;
	for (unsigned i = 0; i < sizeof code; i++)
		memory[i] = code[i];
	((void (*)(void (*)()))memory)(call);
	sink++;
}
