/* Threads that call one function ten million times each. */
#include <pthread.h>
#include <stdio.h>

__attribute__((noinline)) int counted(int n) {
    __asm__ volatile("");
    return n + 1;
}

static void *work(void *unused) {
    (void)unused;
    int n = 0;
    while (n < 10000000)
        n = counted(n);
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("calls counted 40000000\n");
    return 0;
}
