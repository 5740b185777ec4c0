// The end of a process: atexit and exit.
#include "bsd.h"

#define MOST 64
static struct { void (*function)(void *); void *argument; } functions[MOST];
static int count;

// C++ programs register destructors of static objects.
int __cxa_atexit(void (*function)(void *), void *argument, void *object) {
    (void)object;
    if (count == MOST) return -1;
    functions[count].function = function;
    functions[count++].argument = argument;
    return 0;
}

int atexit(void (*function)(void)) { return __cxa_atexit((void (*)(void *))function, NULL, NULL); }

void exit(int status) {
    while (count) {
        --count;
        functions[count].function(functions[count].argument);
    }
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
