/* What the files of the program share. Each function that is counted says so itself: FILE is the source file in which
   the function is. */
#ifndef SHARED_H
#define SHARED_H

#define ROOM __attribute__((noinline, noclone, noipa))
/* A function without room at its entry. */
#define OTHER __attribute__((patchable_function_entry(0, 0)))

enum { MOST = 16 };
struct counter {
    const char *file, *name;
    long calls;
};
extern struct counter counters[MOST];
extern int used;
struct counter *counter_of(const char *file, const char *name);

/* Counts a call of this function. The code at the entry of the function is inlined from this file. */
static inline __attribute__((always_inline)) void called(const char *file, const char *name)
{
    counter_of(file, name)->calls++;
}

ROOM static void in_header(void)
{
    called("shared.h", "in_header");
}

void first_global(void);
void second_global(void);

#endif
