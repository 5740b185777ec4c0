/*
 * Prints what remains of the program that executed this one: memory of the kernel's sampler, timers, the period of
 * the interval timer, descriptors beyond the standard ones.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* The lines of a file that contain a word. */
static int lines_with(const char *path, const char *word) {
    char line[512];
    int found = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        found += strstr(line, word) != NULL;
    if (file)
        fclose(file);
    return found;
}

int main(void) {
    struct itimerval period;
    struct dirent *entry;
    int descriptors = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && (entry = readdir(directory)))
        descriptors += atoi(entry->d_name) > 2;
    getitimer(ITIMER_PROF, &period);
    printf("maps %d, timers %d, interval %ld, descriptors %d\n", lines_with("/proc/self/maps", "perf_event"),
           lines_with("/proc/self/timers", "ID:"), (long)period.it_interval.tv_usec, descriptors - 1);
    return 0;
}
