// Functions with exceptions and cleanups: the tests compare how unwinders read their tables.
struct Guard {
	int *p;
	explicit Guard(int *q);
	~Guard();
};

int some(int);
void use(void *);

struct Base {
	virtual int run(int n);
	virtual ~Base();
};

struct Other {
	virtual int walk(int n);
	int field;
};

struct Derived : Base, Other {
	int run(int n) override;
	int walk(int n) override;
};

int cleans(int n) {
	Guard a(&n);
	if (n > 3) {
		Guard b(&n);
		n += some(n);
	}
	return some(n);
}

int catches(int n) {
	try {
		Guard a(&n);
		n = some(n);
		if (n == 2)
			throw n;
	} catch (int m) {
		return m + some(m);
	} catch (const Base &base) {
		use(&n);
		throw;
	} catch (...) {
		return -1;
	}
	return n;
}

int aligned(int n) {
	alignas(64) int place[16];
	Guard a(place);
	try {
		use(place);
	} catch (int m) {
		n += m;
	}
	return place[n & 15];
}

int quiet(int n) noexcept {
	Guard a(&n);
	return some(n);
}

int Base::run(int n) { return some(n) + 1; }
Base::~Base() { use(this); }
int Other::walk(int n) { return some(n) + field; }
int Derived::run(int n) { return Base::run(n) + walk(n); }
int Derived::walk(int n) {
	Guard a(&n);
	return Other::walk(n);
}

template <class F> int apply(F f, int n) {
	Guard a(&n);
	return f(n);
}

int lambdas(int n) {
	return apply([n](int m) { return some(m) + n; }, n) + apply([](int m) { throw m; return 0; }, n);
}
