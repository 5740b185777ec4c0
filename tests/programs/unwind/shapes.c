/* Functions with all shapes of frames: the tests compare how unwinders read their tables. */
#include <stdarg.h>
#include <stddef.h>

extern void use(void *);
extern int some(int);
extern void stop(void) __attribute__((noreturn));

int leaf(int x) { return x * 3 + 1; }

int calls(int x) { return some(x) + 1; }

int tail(int x) { return some(x + 1); }

int many(int a, int b, int c, int d, int e, int f, int g, int h) {
	int s = some(a) + some(b), t = some(c) * some(d), u = some(e) - some(f), v = some(g) ^ some(h);
	return some(s) + some(t) * some(u) - some(v) + s * t + u * v;
}

int grows(int n) {
	char *p = __builtin_alloca(n);
	use(p);
	for (int i = 0; i < n; i++) {
		char q[i + 1];
		use(q);
	}
	return p[0];
}

int aligned(int n) {
	int place[16] __attribute__((aligned(64)));
	use(place);
	return place[n & 15];
}

int aligned_and_grows(int n, ...) {
	va_list list;
	int place[32] __attribute__((aligned(128)));
	char *p = __builtin_alloca(n);
	va_start(list, n);
	use(p);
	use(place);
	n = va_arg(list, int);
	va_end(list);
	return place[n & 31] + p[0];
}

int aligned_tail(int n) {
	int place[8] __attribute__((aligned(32)));
	use(place);
	return some(place[n & 7]);
}

int large(int n) {
	char place[100000];
	use(place);
	return place[n];
}

double vectors(const double *p, size_t n) {
	double s = 0, t[8];
	for (size_t i = 0; i < n; i++)
		s += p[i] * p[n - i - 1];
	use(t);
	return s + t[0];
}

int early(int n, const int *p) {
	if (!p)
		return -1;
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (p[i] < 0)
			return s;
		s += some(p[i]);
		if (s > 1000)
			stop();
	}
	use(&s);
	return s;
}

int jumps(int n) {
	switch (n) {
	case 0: return some(1);
	case 1: return some(5) + 1;
	case 2: use(&n); return n;
	case 3: stop();
	case 4: return leaf(n);
	default: return many(n, n, n, n, n, n, n, n);
	}
}

#if defined(__GNUC__) && !defined(__clang__)
int nested(int n) {
	int inner(int m) {
		int place[8] __attribute__((aligned(64)));
		use(place);
		return place[m & 7] + n;
	}
	use((void *)inner);
	return inner(n);
}
#endif
