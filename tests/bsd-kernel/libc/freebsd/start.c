// The C library's work before and after main, in FreeBSD 14's order.
#include "start.h"

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
extern const char _DYNAMIC __attribute__((weak, visibility("hidden")));

// Test programs have no code in .init and .fini.
__attribute__((weak)) void _init(void) {}
__attribute__((weak)) void _fini(void) {}

const char *getprogname(void) { return __progname; }

static void relocate(void) {
    for (const struct rela *rela = __rela_iplt_start; rela < __rela_iplt_end; rela++)
        *(u64 *)rela->offset = ((u64(*)(void))rela->addend)();
}

void run_destructors(void) {
    for (long at = __fini_array_end - __fini_array_start; at-- > 0;) __fini_array_start[at]();
    _fini();
}

static void run(const initializer *at, const initializer *end, int argc, char **argv, char **env) {
    for (; at < end; at++) (*at)(argc, argv, env);
}

void run_constructors(int argc, char **argv, char **env) {
    _init();
    run(__init_array_start, __init_array_end, argc, argv, env);
}

// Source: libexec/rtld-elf/rtld.c (`preinit_main`).
void run_preinit_array(int argc, char **argv, char **env) {
    run(__preinit_array_start, __preinit_array_end, argc, argv, env);
}

void set_names(int argc, char **argv, char **env) {
    if (!environ) environ = env;
    if (argc > 0 && argv[0]) {
        __progname = argv[0];
        for (const char *at = argv[0]; *at; at++)
            if (*at == '/') __progname = at + 1;
    }
}

// Source: lib/libc/csu/libc_start1.c. Seen on FreeBSD 15.1 (amd64).
void __libc_start1(int argc, char **argv, char **env, void (*cleanup)(void), int (*main)(int, char **, char **)) {
    set_names(argc, argv, env);
    if (&_DYNAMIC) {
        // The dynamic linker has done the rest.
        atexit(cleanup);
    } else {
        relocate();
        init_tls(env);
        atexit(run_destructors);
        run_preinit_array(argc, argv, env);
        run_constructors(argc, argv, env);
    }
    errno = 0;
    exit(main(argc, argv, env));
}
