/* `reach` calls `work` through one pointer of two. */
#define REACH
#include "callers.h"

OWN void rest(long n, int is_dear) { done += n + is_dear; }

static void (*volatile pointers[2])(long, int) = {work, rest};

OWN void reach(long n, int is_dear) {
    for (int i = 0; i < 2; i++)
        COUNT(work, pointers[i](n, is_dear));
}

int main(int argc, char **argv) {
    begin(argc, argv);
    call_both();
    print();
    return 0;
}
