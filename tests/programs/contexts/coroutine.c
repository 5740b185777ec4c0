/* `dear` runs on a stack that the program made. */
#include "callers.h"

#include <ucontext.h>

static ucontext_t caller, coroutine;

static void in_coroutine(void) {
    call_dear();
    swapcontext(&coroutine, &caller);
}

int main(int argc, char **argv) {
    static char stack[1 << 16];
    begin(argc, argv);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    makecontext(&coroutine, in_coroutine, 0);
    swapcontext(&caller, &coroutine);
    call_cheap();
    print();
    return 0;
}
