/*
 * A function with an array that nothing touches, far below its callers: the pages of the array are not in memory.
 *
 *     PROGRAM thread SECONDS       in a thread
 *     PROGRAM threads SECONDS      in threads of 20 ms, one after the other, each on new memory
 *     PROGRAM coroutine SECONDS    on a stack that the first thread enters later
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define OWN __attribute__((noinline, noclone))
#define SIZE (256 << 10)
#define SHORT 0.02

static double wanted;
static volatile unsigned long done;
static ucontext_t first, other;

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

OWN void burn(void) {
    for (double start = seconds(); seconds() < start + wanted;)
        for (int i = 0; i < 100000; i++)
            done++;
}

OWN void wide(void) {
    char untouched[12600];
    __asm__ volatile("" : : "r"(untouched) : "memory");
    burn();
    __asm__ volatile("" : : "r"(untouched) : "memory");
}

OWN void caller(void) {
    wide();
    done++;
}

static void *in_thread(void *unused) {
    caller();
    return unused;
}

static void in_coroutine(void) { caller(); }

static void *new_stack(void) {
    return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void in_new_thread(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, new_stack(), SIZE);
    if (pthread_create(&thread, &attributes, in_thread, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    wanted = atof(argv[2]);
    if (strcmp(argv[1], "thread") == 0) {
        in_new_thread();
        return 0;
    }
    if (strcmp(argv[1], "threads") == 0) {
        int threads = (int)(wanted / SHORT);
        wanted = SHORT;
        while (threads-- > 0)
            in_new_thread();
        return 0;
    }
    getcontext(&other);
    other.uc_stack.ss_sp = new_stack();
    other.uc_stack.ss_size = SIZE;
    other.uc_link = &first;
    makecontext(&other, in_coroutine, 0);
    return swapcontext(&first, &other);
}
