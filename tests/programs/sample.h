/* Samples that a program takes of itself. A program that uses SAMPLES defines _GNU_SOURCE before it includes a file. */
#include <sys/syscall.h>
#include <unistd.h>

/* Keeps a call from being the last thing that a function does, which would make a jump of it. */
#define STAYS __asm__ volatile("")
#define FUNCTION __attribute__((noinline, noclone))

/* Sends a thread the sampling signal: the signal arrives right after the system call, here and not in the C library.
   `sample_result` is then 0, or another number if the system call failed. */
#ifdef __aarch64__
#define SAMPLE(process_id, thread_id) \
    register long sample_number __asm__("x8") = SYS_tgkill; \
    register long sample_result __asm__("x0") = process_id; \
    register long sample_thread __asm__("x1") = thread_id; \
    register long sample_signal __asm__("x2") = 60; \
    __asm__ volatile("svc #0" \
                     : "+r"(sample_result) \
                     : "r"(sample_number), "r"(sample_thread), "r"(sample_signal) \
                     : "memory");
#else
#define SAMPLE(process_id, thread_id) \
    long sample_result = SYS_tgkill; \
    __asm__ volatile("syscall" : "+a"(sample_result) : "D"(process_id), "S"(thread_id), "d"(60L) : "rcx", "r11", "memory");
#endif

/* Sends this thread the sampling signal so many times. */
#define SAMPLES(times) \
    do { \
        long process_id = getpid(), thread_id = syscall(SYS_gettid); \
        for (int left = (times); left > 0; left--) { \
            SAMPLE(process_id, thread_id) \
        } \
    } while (0)
