/*
 * Lets a thread work until the kernel has looked at the thread's timers of CPU time often enough.
 *
 * On a busy machine the kernel looks at these timers late. It looks at all timers of a thread and of its process at
 * once, so at each look that this file counts, the runtime's timer got its expiries too. A program that includes this
 * file defines _GNU_SOURCE.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OF_LOOKS static __attribute__((no_instrument_function))

enum { LOOK = 61, LOOKS_PER_SECOND = 100 };

/* How often the kernel looked since `begin_looks`, how many expiries it noticed, and how many looks are wanted. */
static __thread long looks, noticed, wanted_looks;

/* Counts the looks at this thread's timers from now on. If the system refuses the timer, no looks are wanted. */
OF_LOOKS void begin_looks(long wanted) {
    /* The kernel's form of struct sigevent: the C libraries do not agree on the name of the thread's number. */
    struct {
        long value;
        int signal, notify, thread, rest[11];
    } event = {.signal = LOOK, .notify = 4 /* SIGEV_THREAD_ID */, .thread = syscall(SYS_gettid)};
    struct itimerspec period = {{0, 1000000000 / LOOKS_PER_SECOND}, {0, 1000000000 / LOOKS_PER_SECOND}};
    /* The signal stays pending until `needs_looks` takes it. While a handler of this thread blocked signals, the kernel
       would give the signal of the runtime's process timer to another thread. The C library's function would be the
       runtime's. */
    unsigned long set = 1ul << (LOOK - 1);
    int timer;
    looks = noticed = 0;
    if (wanted_looks == 0) {
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, sizeof set);
        if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
            return;
        syscall(SYS_timer_settime, timer, 0, &period, NULL);
    }
    wanted_looks = wanted;
}

/* Counts what the kernel noticed. The result is whether this thread should go on working. An end is certain, also in an
   emulator that has the timer but not its signals. */
OF_LOOKS int needs_looks(void) {
    unsigned long set = 1ul << (LOOK - 1);
    struct timespec now = {0, 0};
    siginfo_t info;
    if (wanted_looks == 0)
        return 0;
    if (syscall(SYS_rt_sigtimedwait, &set, &info, &now, sizeof set) == LOOK) {
        looks++;
        noticed += 1 + info.si_overrun;
    }
    if (looks >= wanted_looks)
        return 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec < 60;
}
