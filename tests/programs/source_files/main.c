/* Functions in several source files: main [LIST]. Counts the calls of the functions that a list selects, and prints the
   calls of all functions, as they counted themselves: FILE NAME CALLS. */
#include <stdio.h>
#include <string.h>

#include "gmon.h"
#include "shared.h"

struct counter counters[MOST];
int used;

OTHER struct counter *counter_of(const char *file, const char *name)
{
    for (int number = 0; number < used; number++)
        if (!strcmp(counters[number].name, name))
            return &counters[number];
    counters[used] = (struct counter){file, name, 0};
    return &counters[used++];
}

ROOM static void log_main(void)
{
    called("main.c", "log_main");
}

ROOM void run(int times)
{
    called("main.c", "run");
    while (times-- > 0) {
        log_main();
        first_global();
        second_global();
        in_header();
    }
}

/* Code that nobody needs: the linker discards it where each function has a section. It is larger than the addresses
   before the program's code. */
ROOM void discarded(void)
{
    called("main.c", "discarded");
    __asm__ volatile(".skip 0x8000, 0x90");
}

OTHER int main(int argc, char **argv)
{
    if (argc > 1 && gmon_calls(1, argv[1]))
        return 1;
    run(3);
    gmon_calls(0, NULL);
    run(2);
    for (int number = 0; number < used; number++) {
        /* Before the end, all functions were called as often in each turn. */
        const struct counter *counter = &counters[number];
        int is_run = !strcmp(counter->name, "run");
        printf("%s %s %ld\n", counter->file, counter->name, is_run ? 1 : counter->calls * 3 / 5);
    }
    return 0;
}
