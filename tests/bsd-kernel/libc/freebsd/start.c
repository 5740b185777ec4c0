// The C library's work before and after main, in FreeBSD 14's order.
#include "bsd.h"
#include "thread.h"

struct rela { u64 offset, info, addend; };
extern const struct rela __rela_iplt_start[] __attribute__((weak, visibility("hidden")));
extern const struct rela __rela_iplt_end[] __attribute__((weak, visibility("hidden")));
typedef void (*initializer)(int, char **, char **);
extern const initializer __preinit_array_start[] __attribute__((visibility("hidden")));
extern const initializer __preinit_array_end[] __attribute__((visibility("hidden")));
extern const initializer __init_array_start[] __attribute__((visibility("hidden")));
extern const initializer __init_array_end[] __attribute__((visibility("hidden")));
extern void (*const __fini_array_start[])(void) __attribute__((visibility("hidden")));
extern void (*const __fini_array_end[])(void) __attribute__((visibility("hidden")));
extern const char _DYNAMIC[] __attribute__((weak, visibility("hidden")));

// Test programs have no code in .init and .fini.
__attribute__((weak)) void _init(void) {}
__attribute__((weak)) void _fini(void) {}

const char *getprogname(void) { return __progname; }

static void relocate(void) {
    for (const struct rela *rela = __rela_iplt_start; rela < __rela_iplt_end; rela++)
        *(u64 *)rela->offset = ((u64(*)(void))rela->addend)();
}

static void finish(void) {
    for (long at = __fini_array_end - __fini_array_start; at-- > 0;) __fini_array_start[at]();
    _fini();
}

void __libc_start1(int argc, char **argv, char **env, void (*cleanup)(void), int (*main)(int, char **, char **)) {
    if (!environ) environ = env;
    if (argc > 0 && argv[0]) {
        __progname = argv[0];
        for (const char *at = argv[0]; *at; at++)
            if (*at == '/') __progname = at + 1;
    }
    // Dynamic programs are not supported.
    if (_DYNAMIC) atexit(cleanup);
    relocate();
    init_tls(env);
    atexit(finish);
    for (const initializer *at = __preinit_array_start; at < __preinit_array_end; at++) (*at)(argc, argv, env);
    _init();
    for (const initializer *at = __init_array_start; at < __init_array_end; at++) (*at)(argc, argv, env);
    errno = 0;
    exit(main(argc, argv, env));
}
