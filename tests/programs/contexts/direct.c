/* Plain calls. */
#include "callers.h"

int main(int argc, char **argv) {
    begin(argc, argv);
    call_both();
    print();
    return 0;
}
