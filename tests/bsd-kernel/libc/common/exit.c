// The end of a process: atexit and exit.
#include "bsd.h"

#define MOST 64
static void (*functions[MOST])(void);
static int count;

int atexit(void (*function)(void)) {
    if (count == MOST) return -1;
    functions[count++] = function;
    return 0;
}

void exit(int status) {
    while (count) functions[--count]();
    _exit(status);
}

#define MOST_QUICK 32
static void (*quick[MOST_QUICK])(void);
static int quick_count;

int at_quick_exit(void (*function)(void)) {
    if (quick_count == MOST_QUICK) return -1;
    quick[quick_count++] = function;
    return 0;
}

void quick_exit(int status) {
    while (quick_count) quick[--quick_count]();
    _exit(status);
}
