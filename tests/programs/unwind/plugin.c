// An object that a program loads and closes. With NUMBER 2, frames are larger than with NUMBER 1, and all instructions
// are at the same addresses, so a rule for one object is wrong for the other.
extern void loaded_at(int number, char *at);
extern char __ehdr_start __attribute__((visibility("hidden")));

#define NOINLINE __attribute__((noinline))

static volatile int sink;

static inline __attribute__((always_inline)) int spin(int n) {
	for (int i = 0; i < 3000; i++)
		__asm__ volatile("" : "+r"(n));
	return n;
}

static NOINLINE int plugin_leaf(int n) { return spin(n); }

static NOINLINE int plugin_middle(int (*callback)(int), int n) {
	volatile int place[NUMBER * 200];
	place[n] = plugin_leaf(n);
	return callback(n) + place[n];
}

int plugin_work(int (*callback)(int)) {
	for (int i = 0; i < 10; i++)
		sink += plugin_middle(callback, i);
	return sink;
}

void plugin_here(void) {
	loaded_at(NUMBER, &__ehdr_start);
	sink++;
}

static __attribute__((constructor)) void plugin_begins(void) {
	plugin_here();
	sink += plugin_leaf(1);
}

static __attribute__((destructor)) void plugin_ends(void) {
	sink += spin(2);
}
