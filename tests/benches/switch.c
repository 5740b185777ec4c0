/* Switches the counting of the calls of 50,000 functions on and off: switch TIMES THREADS. The threads call the
   functions meanwhile. Prints milliseconds: the first time, and the medians of switching on and off. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gmon.h"

#define OTHER __attribute__((patchable_function_entry(0, 0)))

extern int (*const all[50000])(int);
static volatile int is_over;

OTHER static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

OTHER static void *call(void *unused)
{
    int sum = 0;
    while (!is_over)
        for (int number = 0; number < 50000; number++)
            sum = all[number](sum);
    return sum == 1 ? unused : NULL;
}

OTHER static int order(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

OTHER int main(int count, char **words)
{
    enum { MOST = 1000 };
    static double on[MOST], off[MOST];
    int times = count > 1 ? atoi(words[1]) : 1, threads = count > 2 ? atoi(words[2]) : 0;
    pthread_t ids[16];
    if (times > MOST || threads > 16)
        return 2;
    for (int thread = 0; thread < threads; thread++)
        pthread_create(&ids[thread], NULL, call, NULL);
    double first = now();
    if (gmon_calls(1, NULL))
        return 1;
    first = now() - first;
    gmon_calls(0, NULL);
    for (int time = 0; time < times; time++) {
        double begin = now();
        gmon_calls(1, NULL);
        on[time] = now() - begin;
        usleep(1000);
        begin = now();
        gmon_calls(0, NULL);
        off[time] = now() - begin;
        usleep(1000);
    }
    is_over = 1;
    for (int thread = 0; thread < threads; thread++)
        pthread_join(ids[thread], NULL);
    qsort(on, times, sizeof on[0], order);
    qsort(off, times, sizeof off[0], order);
    printf("%.2f | %.2f | %.2f\n", first, on[times / 2], off[times / 2]);
    return 0;
}
