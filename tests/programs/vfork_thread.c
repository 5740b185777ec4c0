/* A thread that calls profiled functions only in the child of a vfork, which has the thread's memory. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int step(int number) { return number + 1; }

__attribute__((no_instrument_function)) static void *work(void *unused)
{
    pid_t child = vfork();
    if (child == 0) {
        volatile int sum = 0;
        for (int turn = 0; turn < 7; turn++)
            sum += step(turn);
        _exit(0);
    }
    waitpid(child, 0, 0);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
