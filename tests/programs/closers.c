/* Threads that open and close shared objects at the same addresses: closers THREADS TURNS. Without threads, main does
   it. With PLUG, this file is such an object with the number PLUG. The objects count their calls in the program,
   which prints the counts. */
#ifdef PLUG

extern void count(int object, int what);

__attribute__((noinline)) int born(int number) { return number + PLUG; }
__attribute__((noinline)) int died(int number) { return number - PLUG; }
__attribute__((noinline)) int leaf(int number) { return 3 * number + PLUG; }

__attribute__((constructor)) static void begin(void)
{
    for (int turn = 0; turn < 3; turn++) {
        born(turn);
        count(PLUG, 0);
    }
}

__attribute__((destructor)) static void end(void)
{
    for (int turn = 0; turn < 5; turn++) {
        died(turn);
        count(PLUG, 1);
    }
}

int serve(int times)
{
    int sum = 0;
    while (times-- > 0) {
        sum += leaf(times);
        count(PLUG, 2);
    }
    return sum;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBJECTS = 4, MOST_THREADS = 8 };

static atomic_long counts[OBJECTS][3];
static int turns;

__attribute__((noinline)) void count(int object, int what) { counts[object][what]++; }

static void *work(void *start)
{
    for (int turn = 0; turn < turns; turn++) {
        char path[32];
        snprintf(path, sizeof path, "./plug%d.so", (turn + *(int *)start) % OBJECTS);
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!object) {
            puts(dlerror());
            exit(1);
        }
        int (*serve)(int) = (int (*)(int))dlsym(object, "serve");
        serve(20);
        dlclose(object);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static pthread_t threads[MOST_THREADS];
    static int starts[MOST_THREADS];
    int number = atoi(argv[1]);
    turns = atoi(argv[2]);
    (void)argc;
    for (int i = 0; i < number; i++) {
        starts[i] = 3 * i;
        pthread_create(&threads[i], 0, work, &starts[i]);
    }
    for (int i = 0; i < number; i++)
        pthread_join(threads[i], 0);
    if (!number)
        work(&starts[0]);
    for (int i = 0; i < OBJECTS; i++)
        printf("%ld %ld %ld\n", counts[i][0], counts[i][1], counts[i][2]);
    return 0;
}

#endif
