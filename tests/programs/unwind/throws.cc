// Throws exceptions through functions with cleanups. The test runs the program instruction by instruction.
#include <cstdio>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

NOINLINE static int leaf(int x) { return sink += x; }

struct Guard {
	int n;
	NOINLINE explicit Guard(int m) : n(m) {}
	NOINLINE ~Guard() { leaf(n); }
};

NOINLINE static int throws(int n) {
	Guard guard(n);
	if (n == 0)
		throw std::runtime_error("here");
	return throws(n - 1) + leaf(n);
}

NOINLINE static int aligned(int n) {
	alignas(64) int place[16] = {};
	Guard guard(place[n & 15] + n);
	return throws(n) + place[1];
}

NOINLINE static int passes(int n) {
	try {
		return aligned(n);
	} catch (const std::logic_error &) {
		return leaf(1);
	}
}

NOINLINE static int throws_again(int n) {
	try {
		return passes(n);
	} catch (const std::exception &) {
		leaf(2);
		throw;
	}
}

int main() {
	for (int n = 0; n < 3; n++) {
		try {
			throws_again(n);
		} catch (...) {
			leaf(3);
		}
	}
	return sink == 0;
}
