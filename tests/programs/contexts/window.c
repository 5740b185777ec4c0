/*
 * Loads an object where another one was, before the runtime has seen that the other one is gone. Linked with this file
 * compiled with -DHOOK, whose `dlclose` calls the program after the C library's; ./plug0.so and ./plug1.so are
 * object.c.
 *
 * A thread is sampled in ./plug0.so, which the program closes. Before `dlclose` returns, the thread is sampled in
 * ./plug1.so, at the same addresses and in the same context. Prints "plug NUMBER SAMPLES" for each object.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#ifdef HOOK

void (*after_close)(void);

int dlclose(void *object) {
    int (*close)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    int result = close(object);
    if (after_close)
        after_close();
    return result;
}

#else
#include "truth.h"

BURN(burn)

#include <semaphore.h>
#include <pthread.h>

enum { SAMPLES = 50 };

extern void (*after_close)(void);
static sem_t begin_step, end_step;
static void *objects[2];
static void *functions[2];

OWN void *work(void *unused) {
    for (int step = 0; step < 2; step++) {
        char path[32];
        while (sem_wait(&begin_step) != 0) {
        }
        snprintf(path, sizeof path, "./plug%d.so", step);
        objects[step] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        functions[step] = objects[step] ? dlsym(objects[step], "serve") : NULL;
        if (!functions[step])
            abort();
        printf("plug %d %ld\n", step, ((long (*)(long))functions[step])(SAMPLES));
        sem_post(&end_step);
    }
    return unused;
}

OWN void step(void) {
    sem_post(&begin_step);
    while (sem_wait(&end_step) != 0) {
    }
}

int main(void) {
    pthread_t thread;
    sem_init(&begin_step, 0, 0);
    sem_init(&end_step, 0, 0);
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 99;
    step();
    after_close = step;
    dlclose(objects[0]);
    after_close = NULL;
    pthread_join(thread, NULL);
    if (functions[0] != functions[1]) {
        fprintf(stderr, "the objects were at %p and %p\n", functions[0], functions[1]);
        return 3;
    }
    return 0;
}

#endif
