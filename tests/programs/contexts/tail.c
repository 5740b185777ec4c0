/* At -O2, `dear` and `reach` have no frames while `work` runs, because they end in tail calls. */
#define TAIL
#define REACH
#include "callers.h"

OWN void reach(long n, int is_dear) { work(n, is_dear); }

int main(int argc, char **argv) {
    begin(argc, argv);
    call_both();
    print();
    return 0;
}
