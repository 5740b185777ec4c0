/* A shared object for programs that open and close objects. Objects with other numbers PLUG are other files. */
#include "truth.h"

BURN(burn)

OWN long serve(long n) {
    by_hand = 1;
    burn(n);
    return n + 0 * PLUG;
}
