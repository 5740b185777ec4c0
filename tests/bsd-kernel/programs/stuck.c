// Waits for an event that never happens.
#include "bsd.h"

int main(void) {
    sigset_t all = {{~0u, ~0u, ~0u, ~0u}};
    sigsuspend(&all);
    return 0;
}
