/* `work` runs in the handler of a signal, on another stack. */
#define REACH
#include "callers.h"

#include <signal.h>

TRUTH(handle);

static volatile long units;
static volatile int is_units_dear;

OWN void handle(int signal) {
    (void)signal;
    COUNT(work, work(units, is_units_dear));
}

static void measured_handle(int signal) { COUNT(handle, handle(signal)); }

OWN void reach(long n, int is_dear) {
    units = n;
    is_units_dear = is_dear;
    raise(SIGUSR1);
    done++;
}

int main(int argc, char **argv) {
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = measured_handle, .sa_flags = SA_RESTART | SA_ONSTACK};
    begin(argc, argv);
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    call_both();
    print();
    PRINT_COUNT(handle);
    return 0;
}
