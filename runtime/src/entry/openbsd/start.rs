//! The C start-up contract: initializes libc, starts the profile, and runs the constructors and `main`.

use core::ffi::{CStr, c_char, c_int, c_void};

use super::dynamic;
use super::fork::after_fork_in_child;
use super::settings;
use crate::control::{self, _mcleanup, after_fork_in_parent, before_fork, forget_outside, is_profiled};
use crate::kernel;
use crate::message::remember_standard_error;
use crate::objects::program;
use crate::os::{block_signals, has_other_rights, reserve, set_blocked_signals};

/// An entry of `.preinit_array` or `.init_array`.
type Initializer = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char, *const c_void);

unsafe extern "C" {
    static __preinit_array_start: [Initializer; 0];
    static __preinit_array_end: [Initializer; 0];
    static __init_array_start: [Initializer; 0];
    static __init_array_end: [Initializer; 0];
    /// If this `char` is not 0, crtbegin.o runs `.fini_array` at exit.
    static mut __csu_do_fini_array: c_char;
    /// Runs the constructors of `.ctors`, and registers the destructors (crtbegin.o). Only the first call has an
    /// effect.
    fn __init();
    fn _csu_finish(
        argv: *const *const c_char,
        envp: *const *const c_char,
        cleanup: *const c_void,
    ) -> *const *const *const c_char;
    fn atexit(function: extern "C" fn()) -> c_int;
    fn exit(status: c_int) -> !;
    /// The last part of argv[0].
    static __progname: *const c_char;
    fn main(argc: c_int, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fn _thread_atfork(
        before: extern "C" fn(),
        parent: extern "C" fn(),
        child: extern "C" fn(),
        object: *const c_void,
    ) -> c_int;
}

/// Runs the program. `__start` jumps here with argc, the address of argv on the stack, and the function that ld.so
/// wants to be called at exit; this function is null in a static program. In a dynamic program, ld.so has run the
/// arrays before, runs `.fini_array` at exit, and the program is not profiled.
///
/// An entry of `.preinit_array` in libc initializes the environment and thread-local storage, so profiling starts after
/// the functions of that array, and before the constructors. OpenBSD's own `gcrt0.o` starts profiling after the
/// constructors. This function registers [`_mcleanup`] before the program can register functions with `atexit`, so
/// `_mcleanup` runs after these functions.
pub(super) unsafe extern "C" fn start(argc: c_int, words: *const *const c_char, cleanup: *const c_void) -> ! {
    // SAFETY: the kernel puts argc, argv, a null pointer, and the environment on the stack, in this order.
    unsafe {
        let argv = words;
        let envp = argv.add(argc as usize + 1);
        let environment = _csu_finish(argv, envp, cleanup);
        let run = |from: *const Initializer, to: *const Initializer| {
            let mut at = from;
            while at < to {
                (*at)(argc, argv, envp, core::ptr::null());
                at = at.add(1);
            }
        };
        let is_static = cleanup.is_null();
        if is_static {
            run((&raw const __preinit_array_start).cast(), (&raw const __preinit_array_end).cast());
        }
        begin(envp, program::text());
        if is_static {
            run((&raw const __init_array_start).cast(), (&raw const __init_array_end).cast());
            __csu_do_fini_array = 1;
        }
        __init();
        exit(main(argc, argv, *environment))
    }
}

/// Starts profiling the code in an address range, except in a dynamic, set-user-ID, or set-group-ID program.
///
/// # Safety
///
/// `envp` must be the environment. libc must be initialized, and the process must have no other thread.
pub(super) unsafe fn begin(envp: *const *const c_char, (lowpc, highpc): (usize, usize)) {
    if program::has_interpreter() {
        dynamic::refuse();
        return;
    }
    if has_other_rights() {
        return; // a set-user-ID program must not write files in a directory that its user chooses
    }
    remember_standard_error();
    // OpenBSD's kernel does not count samples outside the program's text.
    forget_outside();
    // SAFETY: the caller guarantees that this is the environment. libc has set the name to a string.
    let settings = unsafe { settings::read(CStr::from_ptr(__progname), envp) };
    let blocked = block_signals();
    reserve();
    control::start(lowpc, highpc, settings.directory.map(|fd| fd.0), false, blocked);
    set_blocked_signals(kernel::to_be_blocked(blocked));
    if is_profiled() {
        settings.prepare_snapshots();
    }
    if let Some(fd) = settings.directory {
        let _ = fd.close();
    }
    // SAFETY: the caller guarantees that libc is initialized.
    unsafe {
        atexit(_mcleanup);
        _thread_atfork(before_fork, after_fork_in_parent, after_fork_in_child, core::ptr::null());
    }
}
