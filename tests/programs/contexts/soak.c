/*
 * Many threads send themselves samples, in the program and in shared objects that they open and close, while others
 * fork:
 *
 *     soak ticks THREADS TURNS SAMPLES
 *
 * In each turn, a thread sends SAMPLES samples below a chain of calls of random depth, opens one of ./plug0.so to
 * ./plug3.so, sends SAMPLES samples in the object, and closes the object. Every eighth turn of a thread forks a child
 * that does the same as one turn without opening an object. Prints "sent PROCESS N" for each process (0 for the
 * program), and "plug NUMBER N" for the samples in each object in the program's process. The objects are object.c.
 */
#include "truth.h"

BURN(burn)

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PLUGS = 4, MOST_THREADS = 200, DEPTHS = 100 };

static long turns, samples;
static long sent_by_threads, sent_in_plugs[PLUGS];
/* What the child of each thread has sent. */
static volatile long *by_child;

OWN void deep(long depth) {
    if (depth > 0)
        deep(depth - 1);
    else
        burn(samples);
    __asm__ volatile("");
}

OWN void use_plug(long number) {
    char path[32];
    snprintf(path, sizeof path, "./plug%ld.so", number);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    long (*serve)(long) = object ? (long (*)(long))dlsym(object, "serve") : NULL;
    if (!serve)
        abort();
    __atomic_fetch_add(&sent_in_plugs[number], serve(samples), __ATOMIC_RELAXED);
    dlclose(object);
}

/* Signals that come while the child is made belong to the parent, so only the child's own are counted. */
OWN void use_child(long thread) {
    by_child[thread] = 0;
    pid_t pid = fork();
    if (pid == 0) {
        long before = sent;
        deep(random_units() % DEPTHS);
        by_child[thread] = sent - before;
        _exit(0);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        abort();
    char line[64];
    int length = snprintf(line, sizeof line, "sent %d %ld\n", (int)pid, by_child[thread]);
    if (write(1, line, (size_t)length) != length)
        abort();
}

static void *work(void *number) {
    long thread = (long)number;
    for (long turn = 0; turn < turns; turn++) {
        deep(random_units() % DEPTHS);
        use_plug((thread + turn) % PLUGS);
        if (turn % 8 == 7 && thread % 8 == 0)
            use_child(thread);
    }
    __atomic_fetch_add(&sent_by_threads, sent, __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv) {
    static pthread_t threads[MOST_THREADS];
    begin(argc, argv);
    long number = argc > 2 ? atol(argv[2]) : 0;
    turns = argc > 3 ? atol(argv[3]) : 0;
    samples = argc > 4 ? atol(argv[4]) : 0;
    by_child = mmap(NULL, sizeof(long) * MOST_THREADS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (number > MOST_THREADS || by_child == MAP_FAILED)
        return 2;
    for (long i = 0; i < number; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 99;
    for (long i = 0; i < number; i++)
        pthread_join(threads[i], NULL);
    long all = sent_by_threads;
    for (int i = 0; i < PLUGS; i++) {
        printf("plug %d %ld\n", i, sent_in_plugs[i]);
        all += sent_in_plugs[i];
    }
    printf("sent 0 %ld\n", all);
    return 0;
}
