/* A shared object with profiled functions, which samples itself and calls back. */
#include <sys/syscall.h>
#include <unistd.h>

/* Sends this thread the sampling signal: it arrives right after the system call, here and not in the C library. */
#ifdef __aarch64__
#define SAMPLE(process_id, thread_id) \
    register long number __asm__("x8") = SYS_tgkill; \
    register long process __asm__("x0") = process_id; \
    register long thread __asm__("x1") = thread_id; \
    register long signal __asm__("x2") = 60; \
    __asm__ volatile("svc #0" : "+r"(process) : "r"(number), "r"(thread), "r"(signal) : "memory");
#else
#define SAMPLE(process_id, thread_id) \
    long result = SYS_tgkill; \
    __asm__ volatile("syscall" : "+a"(result) : "D"(process_id), "S"(thread_id), "d"(60L) : "rcx", "r11", "memory");
#endif

__attribute__((noinline)) int stride(int number) { return 3 * number + 1; }

__attribute__((noinline)) void sampled_here(int times, long process_id, long thread_id)
{
    while (times-- > 0) {
        SAMPLE(process_id, thread_id)
    }
}

/* Calls `stride` and `back` this many times each, and samples itself `samples` times. */
int serve(int times, int samples, int (*back)(int))
{
    int sum = 0;
    for (int turn = 0; turn < times; turn++) {
        sum += stride(turn);
        if (back)
            sum += back(turn);
    }
    sampled_here(samples, getpid(), syscall(SYS_gettid));
    return sum;
}
