/*
 * Samples itself, and knows how many samples are in each function and in all that the function called, also where a
 * tail call removes the function from the stack. Prints "NAME SAMPLES".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "sample.h"

static volatile int calls;

FUNCTION void work(int samples) {
    SAMPLES(samples);
    STAYS;
}

FUNCTION void cheap(void) {
    for (int i = 0; i < 20; i++)
        work(1);
    STAYS;
}

FUNCTION void dear(void) {
    for (int i = 0; i < 5; i++)
        work(200);
    STAYS;
}

/* Both end in a tail call. */
FUNCTION void tail(int samples) {
    calls++;
    work(samples);
}

FUNCTION void further(int samples) {
    calls++;
    tail(samples);
}

FUNCTION void descend(int depth) {
    work(2);
    if (depth > 1)
        descend(depth - 1);
    STAYS;
}

FUNCTION void chosen(void) { work(12); STAYS; }
FUNCTION void other(void) { work(3); STAYS; }
static void (*volatile pointers[])(void) = {chosen, other};

static int samples;
FUNCTION int compare(const void *a, const void *b) {
    work(samples);
    samples = 0;
    return *(const int *)a - *(const int *)b;
}

FUNCTION void sorted(void) {
    int numbers[] = {3, 2, 1};
    samples = 15;
    qsort(numbers, 3, sizeof *numbers, compare);
    STAYS;
}

FUNCTION void *worker(void *unused) {
    work(25);
    STAYS;
    return unused;
}

int main(void) {
    pthread_t thread;
    cheap();
    dear();
    tail(30);
    further(10);
    descend(10);
    pointers[calls & 1]();
    pointers[!(calls & 1)]();
    sorted();
    if (pthread_create(&thread, NULL, worker, NULL) != 0)
        return 99;
    pthread_join(thread, NULL);
    printf("cheap 20\ndear 1000\ntail 40\nfurther 10\ndescend 20\nchosen 12\nother 3\ncompare 15\nsorted 15\nworker 25\n");
    printf("main 1110\nwork 1135\n");
    return 0;
}
