/* Takes samples of itself, or none, while handlers must use, or must not use, the thread's alternate stack. Ends by
   SIGTERM. */
#define _GNU_SOURCE
#include "sample.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    PAGE = 64 << 10,
    LEAST = 2048, /* the kernel's least size of an alternate stack */
    FREE = 700,   /* fewer bytes than any signal frame has */
    ROOM = 1024   /* what the runtime's handlers need besides the frame */
};

static int samples;
static ucontext_t first, other;
static char *bottom; /* of the small stack */

FUNCTION void here(void) { SAMPLES(samples); }

static void handler(int signal) { (void)signal; }

/* Runs with little more than FREE bytes between its stack pointer and memory that cannot be touched. */
static void on_small_stack(void) {
    char *frame = __builtin_frame_address(0);
    volatile char *used = __builtin_alloca(frame - bottom - FREE - 300);
    used[0] = 1;
    here();
}

static char *map(size_t size) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(1);
    return memory;
}

static void set(char *start, size_t size) {
    stack_t stack = {.ss_sp = start, .ss_size = size}, found;
    if (sigaltstack(&stack, NULL) != 0 || sigaltstack(NULL, &found) != 0)
        exit(2);
    printf("%d %d %d\n", found.ss_sp == start, found.ss_size == size, found.ss_flags);
}

int main(int argc, char **argv) {
    const char *how = argv[1];
    samples = argc > 2 ? atoi(argv[2]) : 0;
    size_t frame = getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) : 4096;
    char *memory = map(3 * PAGE), *middle = memory + PAGE;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK}, found;
    sigaction(SIGUSR2, &action, NULL);
    memset(memory, 0xaa, PAGE);
    if (strcmp(how, "smallest") == 0)
        set(middle, frame > LEAST ? frame : LEAST);
    if (strcmp(how, "small") == 0)
        set(middle, frame + ROOM - 1);
    if (strcmp(how, "unmapped") == 0) {
        set(middle, PAGE);
        here();
        munmap(middle, PAGE);
    }
    if (strcmp(how, "partly") == 0) { /* the end, where frames are, is gone */
        set(middle, 2 * PAGE);
        munmap(memory + 2 * PAGE, PAGE);
    }
    if (strcmp(how, "coroutine") == 0) {
        char *stack = map(3 * PAGE);
        bottom = stack + PAGE;
        set(middle, frame + ROOM);
        mprotect(stack, PAGE, PROT_NONE);
        munmap(stack + 2 * PAGE, PAGE); /* not the alternate stack */
        getcontext(&other);
        other.uc_stack.ss_sp = stack + PAGE;
        other.uc_stack.ss_size = PAGE;
        other.uc_link = &first;
        makecontext(&other, on_small_stack, 0);
        swapcontext(&first, &other);
    } else {
        here();
    }
    int overwritten = 0;
    for (int i = 0; i < PAGE; i++)
        overwritten += (unsigned char)memory[i] != 0xaa;
    sigaction(SIGTERM, NULL, &found);
    printf("%d bytes below are overwritten, SIGTERM has %d %d\n", overwritten, found.sa_handler == SIG_DFL, found.sa_flags);
    sigaction(SIGUSR2, NULL, &found);
    printf("SIGUSR2 has %d %#x\n", found.sa_handler == handler, found.sa_flags & SA_ONSTACK);
    if (argc > 3) { /* what the kernel knows of the sampling signal: handler, flags, restorer, and mask */
        unsigned long action[4] = {0};
        syscall(SYS_rt_sigaction, 60, NULL, action, 8);
        printf("SIG60 has %#lx\n", action[1] & SA_ONSTACK);
    }
    fflush(stdout);
    raise(SIGTERM);
    return 3;
}
