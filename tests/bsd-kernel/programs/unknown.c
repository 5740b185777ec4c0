// A system call number that no kernel has.
#include "bsd.h"

int main(void) {
    int carry;
    CHECK(syscall_number(1999, 0, 0, 0, 0, &carry) == ENOSYS && carry);
    return 0;
}
