// Is sampled in places where a stack is hard to walk, and prints the chains. Compiles as C and as C++.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
void probe_start(void);
size_t probe_walk(const void *context, size_t *frames, size_t room, int *ending);
int probe_close(void *handle, int (*close)(void *));
extern char __executable_start;
#ifdef __cplusplus
}
#endif

#define NOINLINE __attribute__((noinline))
// Keeps a call from being the last thing that a function does.
#define KEEP() __asm__ volatile("" ::: "memory")
#define PAGE 65536

#define FRAMES 40
#define CHAINS 2000u
#define WANTED 150u
// How often a thread waits in leaf for a sample.
#define WAITS 20u

static struct chain {
	int ending;
	unsigned number;
	// The object that was loaded then, and where.
	int object;
	char *base;
	size_t frames[FRAMES];
} chains[CHAINS];
static volatile unsigned taken, wanted = WANTED;
static __thread int object;
static __thread char *base;
// The samples of this thread, and how often it has waited for one.
static __thread volatile unsigned own_taken;
static __thread unsigned waits;
static volatile int sink;

static void on_sample(int signal, siginfo_t *info, void *context) {
	unsigned number = __atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
	(void)signal, (void)info;
	own_taken++;
	if (number >= CHAINS)
		return;
	struct chain *chain = &chains[number];
	chain->object = object;
	chain->base = base;
	chain->number = probe_walk(context, chain->frames, FRAMES, &chain->ending);
}

#ifdef FENTRY
__asm__(".globl __fentry__\n.type __fentry__, @function\n__fentry__:\n.cfi_startproc\nret\n.cfi_endproc\n");
#endif

// The first calls of a thread wait for a sample, so that each way to this function is in a chain. The samples
// afterwards are anywhere.
NOINLINE int leaf(int n) {
	if (waits < WAITS) {
		unsigned before = own_taken;
		waits++;
		while (own_taken == before && taken < CHAINS)
			;
	}
	for (int i = 0; i < 300; i++)
		__asm__ volatile("" : "+r"(n));
	sink += n;
	return n;
}

NOINLINE int recursion(int n) {
	int found = n == 0 ? leaf(n) : recursion(n - 1);
	KEEP();
	return found + 1;
}

NOINLINE int compare(const void *a, const void *b) {
	leaf(1);
	KEEP();
	return *(const int *)a - *(const int *)b;
}

NOINLINE void sort(void) {
	int numbers[] = {3, 1, 2, 5, 4, 7, 6, 9, 8};
	qsort(numbers, 9, sizeof *numbers, compare);
	KEEP();
}

NOINLINE void run_qsort(void) {
	while (taken < wanted)
		sort();
}

// Deeper than a walk goes.
NOINLINE void run_deep(void) {
	while (taken < wanted)
		recursion(50000);
}

static jmp_buf place;

NOINLINE void jumps(int n) {
	if (n > 0)
		jumps(n - 1);
	else if (leaf(n) == 0)
		longjmp(place, 1);
	KEEP();
}

NOINLINE void run_longjmp(void) {
	while (taken < wanted) {
		if (setjmp(place) == 0)
			jumps(4);
		KEEP();
	}
}

NOINLINE void *small_thread(void *nothing) {
	while (taken < wanted)
		recursion(5);
	return nothing;
}

NOINLINE void run_small_thread(void) {
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	// As small as glibc allows on x86-64.
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN > 16384 ? PTHREAD_STACK_MIN : 16384);
	if (pthread_create(&thread, &attributes, small_thread, NULL) != 0)
		abort();
	// Samples are of the thread, also where the kernel prefers the first thread.
	sigset_t samples;
	sigemptyset(&samples);
	sigaddset(&samples, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &samples, NULL);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_UNBLOCK, &samples, NULL);
}

NOINLINE void on_usr2(int signal) {
	recursion(signal & 3);
	KEEP();
}

// The signal's stack ends where no memory follows.
NOINLINE void run_altstack(void) {
	char *memory = (char *)mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE);
	stack_t stack;
	memset(&stack, 0, sizeof stack);
	stack.ss_sp = memory + PAGE;
	stack.ss_size = 2 * PAGE;
	sigaltstack(&stack, NULL);
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_handler = on_usr2;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	while (taken < wanted)
		raise(SIGUSR2);
}

#ifdef __GLIBC__
static ucontext_t outside, coroutine;

NOINLINE void coroutine_body(void) {
	for (;;) {
		recursion(3);
		swapcontext(&coroutine, &outside);
	}
}

NOINLINE void run_coroutine(void) {
	char *memory = (char *)mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory, PAGE, PROT_READ | PROT_WRITE);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = memory;
	coroutine.uc_stack.ss_size = PAGE;
	makecontext(&coroutine, coroutine_body, 0);
	while (taken < wanted) {
		recursion(1);
		swapcontext(&outside, &coroutine);
		KEEP();
	}
}
#endif

#ifdef LAZY
// Calls a function that the dynamic linker resolves again at each call: before each call, the slots of the PLT get the
// values that they had before the first call. Nearly all samples are in the dynamic linker.
NOINLINE void run_lazy(void) {
	char **slots = NULL;
	size_t bytes = 0;
	for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_PLTGOT)
			slots = (char **)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_PLTRELSZ)
			bytes = entry->d_un.d_val;
	}
	char *before[64];
	if (slots == NULL || bytes == 0 || bytes > sizeof(ElfW(Rela)) * 64)
		abort();
	// The first three slots belong to the dynamic linker.
	slots += 3;
	bytes = bytes / sizeof(ElfW(Rela)) * sizeof *slots;
	memcpy(before, slots, bytes);
	while (taken < wanted) {
		memcpy(slots, before, bytes);
		sink += getppid();
	}
}
#endif

#ifdef __x86_64__
// Keeps a frame pointer: push %rbp; mov %rsp, %rbp; call *%rdi; nop; pop %rbp; ret.
static const unsigned char with_frame[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x90, 0x5d, 0xc3};
// Keeps something else in the frame pointer: push %rbp; mov %rsi, %rbp; call *%rdi; nop; pop %rbp; ret.
static const unsigned char without_frame[] = {0x55, 0x48, 0x89, 0xf5, 0xff, 0xd7, 0x90, 0x5d, 0xc3};
#else
// stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; nop; ldp x29, x30, [sp], #16; ret
static const unsigned with_frame[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xd503201f, 0xa8c17bfd, 0xd65f03c0};
// stp x29, x30, [sp, #-16]!; mov x29, x1; blr x0; nop; ldp x29, x30, [sp], #16; ret
static const unsigned without_frame[] = {0xa9bf7bfd, 0xaa0103fd, 0xd63f0000, 0xd503201f, 0xa8c17bfd, 0xd65f03c0};
#endif

NOINLINE void generated(void) {
	recursion(1);
	KEEP();
}

typedef void generated_code(void (*)(void), void *);

NOINLINE void run_jit(void) {
	char *memory = (char *)mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *none = (char *)mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *heap = malloc(4096);
	void *values[] = {(void *)0x1234567890, (void *)-8,        (void *)8, heap, none,
	                  (void *)generated,    (char *)&values + 1, &values,   (void *)0x7fffffffffff};
	memcpy(memory, with_frame, sizeof with_frame);
	memcpy(memory + 256, without_frame, sizeof without_frame);
	__builtin___clear_cache(memory, memory + 512);
	while (taken < wanted) {
		((generated_code *)(void *)memory)(generated, NULL);
		for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
			((generated_code *)(void *)(memory + 256))(generated, values[i]);
	}
}

#ifdef PLUGINS
#ifdef __cplusplus
extern "C"
#endif
	void loaded_at(int number, char *at) {
	object = number;
	base = at;
}

NOINLINE int callback(int n) {
	leaf(n);
	KEEP();
	return n + 1;
}

static volatile int is_over;
static char **plugins;

NOINLINE void load_and_close(unsigned turn) {
	void *handle = dlopen(plugins[turn % 2], RTLD_NOW);
	if (handle == NULL) {
		puts(dlerror());
		abort();
	}
	int (*work)(int (*)(int)) = (int (*)(int (*)(int)))dlsym(handle, "plugin_work");
	// No constructor has run if the object was loaded already.
	((void (*)(void))dlsym(handle, "plugin_here"))();
	work(callback);
	probe_close(handle, dlclose);
	object = 0;
}

NOINLINE void *other_thread(void *nothing) {
	while (!is_over)
		recursion(2);
	return nothing;
}

NOINLINE void *closing_thread(void *nothing) {
	for (unsigned turn = 1; !is_over; turn++)
		load_and_close(turn);
	return nothing;
}

NOINLINE void run_plugins(void *(*other)(void *)) {
	pthread_t thread;
	wanted = 3 * WANTED;
	if (pthread_create(&thread, NULL, other, NULL) != 0)
		abort();
	for (unsigned turn = 0; taken < wanted || turn < 20; turn++)
		load_and_close(turn);
	is_over = 1;
	pthread_join(thread, NULL);
}
#endif

#ifdef __cplusplus
struct Guard {
	NOINLINE ~Guard() { leaf(2); }
};

NOINLINE void throws(int n) {
	Guard guard;
	if (n == 0)
		throw n;
	throws(n - 1);
	KEEP();
}

NOINLINE void run_exceptions() {
	while (taken < wanted) {
		try {
			throws(3);
		} catch (int) {
			recursion(1);
		}
	}
}
#endif

static void print(void) {
	unsigned number = taken < CHAINS ? taken : CHAINS;
	printf("start %zx\n", (size_t)&__executable_start);
	for (const struct chain *chain = chains; chain < chains + number; chain++) {
		printf("%d %d %zx", chain->ending, chain->object, (size_t)chain->base);
		for (unsigned frame = 0; frame < chain->number; frame++)
			printf(" %zx", chain->frames[frame]);
		puts("");
	}
}

int main(int argc, char **argv) {
	const char *name = argc > 1 ? argv[1] : "";
	struct sigaction action;
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_sample;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigfillset(&action.sa_mask);
	probe_start();
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	if (strcmp(name, "qsort") == 0)
		run_qsort();
	else if (strcmp(name, "deep") == 0)
		run_deep();
	else if (strcmp(name, "longjmp") == 0)
		run_longjmp();
	else if (strcmp(name, "small_thread") == 0)
		run_small_thread();
	else if (strcmp(name, "altstack") == 0)
		run_altstack();
	else if (strcmp(name, "jit") == 0)
		run_jit();
#ifdef __GLIBC__
	else if (strcmp(name, "coroutine") == 0)
		run_coroutine();
#endif
#ifdef LAZY
	else if (strcmp(name, "lazy") == 0)
		run_lazy();
#endif
#ifdef PLUGINS
	else if (plugins = argv + 2, strcmp(name, "plugins") == 0)
		run_plugins(other_thread);
	else if (strcmp(name, "plugins_of_two") == 0)
		run_plugins(closing_thread);
#endif
#ifdef __cplusplus
	else if (strcmp(name, "exceptions") == 0)
		run_exceptions();
#endif
	setitimer(ITIMER_PROF, &never, NULL);
	print();
	return 0;
}
