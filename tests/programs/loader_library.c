/* A library that counts its own calls, to compare them with those that the dynamic linker counts. The linker counts
   calls through the procedure linkage table, and keeps functions apart that are in different blocks of 32 bytes. */
#define APART __attribute__((aligned(64), noinline))

unsigned long outer_calls, inner_calls, leaf_calls;

APART unsigned long leaf(unsigned long value) {
    leaf_calls++;
    return value * 2862933555777941757UL + 3037000493UL;
}

APART unsigned long inner(unsigned long value) {
    inner_calls++;
    for (int i = 0; i < 3; i++)
        value = leaf(value);
    return value;
}

APART unsigned long outer(unsigned long value) {
    outer_calls++;
    return inner(value) ^ leaf(value) ^ leaf(value + 1);
}
