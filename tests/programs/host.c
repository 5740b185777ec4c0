/* A program that uses shared objects: one that is linked (with LINKED), or those on the command line, each opened,
   called, and closed in its turn as often as given: host NAME TIMES SAMPLES [NAME TIMES SAMPLES]... With `!` before
   its name, an object stays open. `@FROM TO -` renames a file. `made SAMPLES` is sampled in code that it makes. With
   MOVE_TEXT set, the program's code is in memory that belongs to no file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "sample.h"

typedef int serve_type(int, int, int (*)(int));
extern serve_type serve;

static int calls_back;

__attribute__((noinline)) int back(int number)
{
    calls_back++;
    return number;
}

/* The one place that calls the opened objects: objects at the same address are called along the same arc. */
__attribute__((noinline)) static void use(serve_type *service, int times, int samples)
{
    service(times, samples, back);
}

/* Unmaps an object without dlclose. */
static void unmap(const char *path)
{
    char line[4096];
    unsigned long start, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, path) && sscanf(line, "%lx-%lx", &start, &end) == 2)
            munmap((void *)start, end - start);
}

/* Moves the code to memory that belongs to no file, as programs do that want larger pages for it. */
static int move_text(void)
{
    char line[4096];
    unsigned long start, end, code = (unsigned long)move_text;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= code && code < end) {
            size_t size = end - start;
            void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            fclose(maps);
            if (copy == MAP_FAILED)
                return -1;
            memcpy(copy, (void *)start, size);
            if (mprotect(copy, size, PROT_READ | PROT_EXEC) != 0)
                return -1;
            return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) == (void *)start ? 0 : -1;
        }
    return -1;
}

static unsigned char memory[1 << 16];

/* Sends the sampling signal this often. The function uses nothing outside, so that a copy runs anywhere. */
__attribute__((noinline, no_instrument_function, aligned(16))) static void made(long process, long thread, long left)
{
    for (; left > 0; left--) {
        SAMPLE(process, thread)
    }
}

/* Runs a copy of the function. */
static int run_made(long samples)
{
    void *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return 1;
    memcpy(copy, (void *)made, 256);
    __builtin___clear_cache((char *)copy, (char *)copy + 256);
    if (mprotect(copy, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    ((void (*)(long, long, long))copy)(getpid(), syscall(SYS_gettid), samples);
    return 0;
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], "libc")) {
        for (long left = atol(words[2]); left > 0; left--)
            raise(60);
        memset(memory, 1, sizeof memory);
        return 0;
    }
    if (count > 2 && !strcmp(words[1], "made"))
        return run_made(atol(words[2]));
    if (getenv("MOVE_TEXT") && move_text() != 0)
        return 2;
#ifdef LINKED
    use(serve, atoi(words[1]), atoi(words[2]));
#else
    for (int word = 1; word + 2 < count; word += 3) {
        if (words[word][0] == '@') {
            if (rename(words[word] + 1, words[word + 1]) != 0)
                return 1;
            continue;
        }
        int stays = words[word][0] == '!';
        void *object = dlopen(words[word] + stays, RTLD_NOW);
        if (!object) {
            puts(dlerror());
            return 1;
        }
        serve_type *service = (serve_type *)dlsym(object, "serve");
        printf("at %p\n", (void *)service);
        use(service, atoi(words[word + 1]), atoi(words[word + 2]));
        if (!stays)
            dlclose(object);
    }
#endif
    if (getenv("UNMAPS")) {
        unmap(getenv("UNMAPS"));
        _exit(0); /* the C library would look for the unmapped object */
    }
    if (getenv("STOPS"))
        raise(SIGSTOP);
    if (getenv("FORKS") && fork() == 0)
        return 0;
    printf("calls back %d\n", calls_back);
    return 0;
}
