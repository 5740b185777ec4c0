/* Samples that a program takes of itself. A program that includes this file includes <sys/syscall.h> before. */
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
