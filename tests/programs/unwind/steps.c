/* Runs through the edges of frames: prologues, epilogues, PLT stubs, callbacks of the C library, signal handlers on
   another stack, longjmp, and functions that realign the stack. The test runs the program instruction by
   instruction. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What -pg calls, because the test links without a profiling runtime. */
__asm__(".pushsection .text\n.globl __fentry__, mcount, _mcount\n"
	".type __fentry__, @function\n__fentry__: mcount: _mcount: .cfi_startproc\nret\n.cfi_endproc\n"
	".size __fentry__, . - __fentry__\n.popsection");

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf place;
static char stack[65536];

NOINLINE static int leaf(int x) { return sink += x; }

NOINLINE static int recursion(int n) { return n ? recursion(n - 1) + leaf(n) : 0; }

NOINLINE static int compare(const void *a, const void *b) {
	leaf(1);
	return *(const int *)a - *(const int *)b;
}

NOINLINE static int grows(int n) {
	char *p = __builtin_alloca(n);
	memset(p, n, n);
	return leaf(p[n / 2]);
}

NOINLINE static int aligned(int n) {
	int space[16] __attribute__((aligned(64)));
	memset(space, n, sizeof space);
	return leaf(space[n & 15]);
}

NOINLINE static int aligned_and_grows(int n, ...) {
	va_list list;
	int space[32] __attribute__((aligned(128)));
	char *p = __builtin_alloca(n);
	va_start(list, n);
	memset(space, n, sizeof space);
	memset(p, n, n);
	n = va_arg(list, int);
	va_end(list);
	return leaf(space[n & 31] + p[0]);
}

NOINLINE static int aligned_tail(int n) {
	int space[8] __attribute__((aligned(32)));
	memset(space, n, sizeof space);
	return leaf(space[n & 7]);
}

NOINLINE static int early(int n) {
	if (n < 0)
		return -1;
	int *p = malloc((n + 1) * sizeof *p);
	for (int i = 0; i <= n; i++)
		p[i] = n - i;
	qsort(p, n + 1, sizeof *p, compare);
	n = p[n];
	free(p);
	return n;
}

NOINLINE static void handler(int signal) {
	leaf(signal);
	aligned(signal);
}

NOINLINE static void jump(int n) {
	if (n == 0)
		longjmp(place, 1);
	jump(n - 1);
	leaf(n);
}

NOINLINE static int jumps(void) {
	if (setjmp(place))
		return leaf(1);
	jump(3);
	return 0;
}

static void at_exit(void) { leaf(1); }

__attribute__((constructor)) static void constructor(void) { leaf(1); }
__attribute__((destructor)) static void destructor(void) { leaf(1); }

int main(void) {
	stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	sigaltstack(&other, 0);
	sigaction(SIGUSR1, &action, 0);
	action.sa_flags = 0;
	sigaction(SIGUSR2, &action, 0);
	atexit(at_exit);
	recursion(5);
	early(-1);
	early(12);
	grows(100);
	aligned(3);
	aligned_and_grows(40, 2);
	aligned_tail(2);
	jumps();
	raise(SIGUSR1);
	raise(SIGUSR2);
	char text[64];
	snprintf(text, sizeof text, "%d %s %g", sink, "text", 1.5);
	return strlen(text) > 60;
}
