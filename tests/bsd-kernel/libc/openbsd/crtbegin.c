// What crtbegin.o has: the note of the system, and the destructors, which run at exit where the start-up code asks for them.
#include "bsd.h"

int __csu_do_fini_array __attribute__((visibility("hidden")));
extern void (*const __fini_array_start[])(void) __attribute__((weak, visibility("hidden")));
extern void (*const __fini_array_end[])(void) __attribute__((weak, visibility("hidden")));

static void finish(void) {
    if (__csu_do_fini_array)
        for (long at = __fini_array_end - __fini_array_start; at-- > 0;) __fini_array_start[at]();
}

__attribute__((visibility("hidden"))) void __init(void) { atexit(finish); }

__asm__(".pushsection .note.openbsd.ident,\"a\",@note; .balign 4; .long 8, 4, 1; .asciz \"OpenBSD\"; .long 0; .popsection");
