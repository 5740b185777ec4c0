/* A library whose constructor and destructor take samples (with -DLIBRARY=SAMPLES, which is how many samples the
   constructor takes), and a program that needs the library and prints this number. */
#define _GNU_SOURCE
#include <stdio.h>

#include "sample.h"

#ifdef LIBRARY
int samples_in_constructor;

FUNCTION static void called_by_constructor(void) { SAMPLES(LIBRARY); }

FUNCTION static void called_by_destructor(void) { SAMPLES(20); }

__attribute__((constructor)) static void constructor(void) {
    called_by_constructor();
    samples_in_constructor = LIBRARY;
}

__attribute__((destructor)) static void destructor(void) {
    called_by_destructor();
    STAYS;
}
#else
extern int samples_in_constructor;

int main(void) {
    printf("%d\n", samples_in_constructor);
    return 0;
}
#endif
