// Lets a program for arm64 with OpenBSD's start-up object run on Linux. `openbsd_call` replaces the runtime's only
// function that makes system calls. This file also has the functions of libc that the runtime needs, and writes the
// buffer of `profil` as OpenBSD's kernel does.
typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;

// The common numbers of Linux on arm64.
enum { LINUX_OPENAT = 56, LINUX_WRITE = 64, LINUX_EXIT = 94, LINUX_GETTID = 178, LINUX_MMAP = 222 };

static long linux_call(long number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
    register u64 x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
                 x5 __asm__("x5") = f;
    register long x8 __asm__("x8") = number;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory", "cc");
    return (long)x0;
}

// The buffer of profil.
static char *buffer;

#define ENOSYS 78

long openbsd_call(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 number) {
    (void)e, (void)f;
    switch (number) {
    case 4: return linux_call(LINUX_WRITE, a, b, c, 0, 0, 0);
    case 6: return 0; // close
    case 20: return 1001; // getpid
    case 299: return linux_call(LINUX_GETTID, 0, 0, 0, 0, 0, 0); // getthrid
    case 48: return 0;  // sigprocmask: the program gets no signals
    case 253: return 0; // issetugid
    case 250: return 0; // minherit: the program does not fork
    case 87: ((u64 *)b)[0] = ((u64 *)b)[1] = 0; return 0; // clock_gettime
    case 202: // sysctl: kern.clockrate
        for (int word = 0; word < 4; word++) ((int *)c)[word] = (int[]){100, 10000, 100, 1000}[word];
        *(u64 *)d = 16;
        return 0;
    case 49: return linux_call(LINUX_MMAP, a, b, c, 0x22, (u64)-1, 0); // mmap: private and anonymous memory only
    case 175: buffer = (char *)a; return 0; // profil
    default: return -ENOSYS;
    }
}

void *memcpy(void *to, const void *from, u64 size) {
    for (u64 at = 0; at < size; at++) ((volatile char *)to)[at] = ((const char *)from)[at];
    return to;
}
void *memset(void *to, int byte, u64 size) {
    for (u64 at = 0; at < size; at++) ((volatile char *)to)[at] = (char)byte;
    return to;
}
int memcmp(const void *one, const void *other, u64 size) {
    for (u64 at = 0; at < size; at++)
        if (((const char *)one)[at] != ((const char *)other)[at]) return ((const unsigned char *)one)[at] - ((const unsigned char *)other)[at];
    return 0;
}
u64 strlen(const char *text) {
    u64 length = 0;
    while (((const volatile char *)text)[length]) length++;
    return length;
}

static void (*at_end[8])(void);
static int ends;
int atexit(void (*function)(void)) { at_end[ends++] = function; return 0; }
int _thread_atfork(void) { return 0; }

const char *__progname = "arm64";
int *__errno(void) { static int error; return &error; }

static char **environment;
char ***_csu_finish(char **argv, char **envp) { (void)argv; environment = envp; return &environment; }

// The end of the process, with the file.
void exit(int status) {
    while (ends > 0) at_end[--ends]();
    if (buffer) {
        u64 size = *(u32 *)(buffer + 16) + *(u32 *)(buffer + 28);
        long file = linux_call(LINUX_OPENAT, (u64)-100, (u64) "gmon.arm64.1001.out", 0x241, 0600, 0, 0);
        linux_call(LINUX_WRITE, (u64)file, (u64)buffer, size, 0, 0, 0);
    }
    for (;;) linux_call(LINUX_EXIT, (u64)status, 0, 0, 0, 0, 0);
}

// Sets up thread-local storage, as libc does in its entry of .preinit_array: the program's block starts 16 bytes after
// the address in tpidr_el0.
struct header { char ident[32]; u64 phoff, shoff; u32 flags; u16 ehsize, phentsize, phnum; };
struct phdr { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; };
extern const struct header __executable_start;
static char thread[256] __attribute__((aligned(64)));
static void initialize(void) {
    const struct phdr *at = (const void *)((const char *)&__executable_start + __executable_start.phoff);
    for (int left = __executable_start.phnum; left > 0; left--, at++)
        if (at->type == 7) memcpy(thread + 16, (const void *)at->vaddr, at->filesz);
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(thread));
}
__attribute__((section(".preinit_array"), used)) static void (*initializer)(void) = initialize;
