// The contents of crtbegin.o: the note of type 1, and the destructors, which run at exit if the start-up code sets __csu_do_fini_array.
// Unlike the other files, this one is compiled for arm64 too, so it does not include bsd.h.
int atexit(void (*function)(void));

int __csu_do_fini_array __attribute__((visibility("hidden")));
extern void (*const __fini_array_start[])(void) __attribute__((weak, visibility("hidden")));
extern void (*const __fini_array_end[])(void) __attribute__((weak, visibility("hidden")));

static void finish(void) {
    if (__csu_do_fini_array)
        for (long at = __fini_array_end - __fini_array_start; at-- > 0;) __fini_array_start[at]();
}

__attribute__((visibility("hidden"))) void __init(void) { atexit(finish); }

__asm__(".pushsection .note.openbsd.ident,\"a\",@note; .balign 4; .long 8, 4, 1; .asciz \"OpenBSD\"; .long 0; .popsection");
