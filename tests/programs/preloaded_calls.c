/* A program that is compiled with -pg and linked with the C library's own start-up object. Its threads and its
   destructor count their calls. */
#include <pthread.h>
#include <stdio.h>

__attribute__((noinline)) static void counted(void) { __asm__ volatile(""); }

static void *in_thread(void *argument) {
    for (int i = 0; i < 1000000; i++)
        counted();
    return argument;
}

__attribute__((destructor)) static void at_end(void) {
    for (int i = 0; i < 2000; i++)
        counted();
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, in_thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("2002000");
    return 0;
}
