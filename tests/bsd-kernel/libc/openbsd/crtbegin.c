// The contents of crtbegin.o: the note of type 1, and the destructors, which run at exit if the start-up code sets
// __csu_do_fini_array. Unlike the other files, this one is compiled for arm64 too, so it does not include bsd.h.
int atexit(void (*function)(void));

// One byte. The bytes behind belong to others.
__asm__(".pushsection .data; .globl __csu_do_fini_array; .hidden __csu_do_fini_array; __csu_do_fini_array: .byte 0;"
        ".globl behind_do_fini_array; .hidden behind_do_fini_array; behind_do_fini_array: .byte 11, 22, 33; .popsection");
extern char __csu_do_fini_array __attribute__((visibility("hidden")));
extern const volatile unsigned char behind_do_fini_array[3] __attribute__((visibility("hidden")));
extern void (*const __fini_array_start[])(void) __attribute__((weak, visibility("hidden")));
extern void (*const __fini_array_end[])(void) __attribute__((weak, visibility("hidden")));

static void finish(void) {
    const volatile unsigned char *behind = behind_do_fini_array;
    if (behind[0] != 11 || behind[1] != 22 || behind[2] != 33) __builtin_trap();
    if (__csu_do_fini_array)
        for (long at = __fini_array_end - __fini_array_start; at-- > 0;) __fini_array_start[at]();
}

__attribute__((visibility("hidden"))) void __init(void) {
    static char is_done;
    if (!is_done) atexit(finish);
    is_done = 1;
}

__asm__(".pushsection .note.openbsd.ident,\"a\",@note; .balign 4; .long 8, 4, 1; .asciz \"OpenBSD\"; .long 0; .popsection");
