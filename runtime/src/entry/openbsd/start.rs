//! The C start-up contract: what runs before everything of the program's own, and what runs after it.

use core::ffi::{CStr, c_char, c_int, c_void};

use super::fork::after_fork_in_child;
use super::settings;
use crate::control::{self, _mcleanup, after_fork_in_parent, before_fork, forget_outside, is_profiled};
use crate::message::remember_standard_error;
use crate::objects::program;
use crate::os::has_other_rights;

/// An entry of an array of functions that run before `main`.
type Initializer = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char, *const c_void);

unsafe extern "C" {
    static __preinit_array_start: [Initializer; 0];
    static __preinit_array_end: [Initializer; 0];
    static __init_array_start: [Initializer; 0];
    static __init_array_end: [Initializer; 0];
    /// crtbegin.o runs `.fini_array` at exit if this is set.
    static mut __csu_do_fini_array: c_int;
    /// crtbegin.o's older constructors; registers the destructors.
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

/// Runs the program. `__start` jumps here with what the kernel left on the stack.
///
/// libc's entry of `.preinit_array` sets the environment and thread-local storage up, so profiling begins behind that array, and before
/// the constructors: the system's own `gcrt0.o` begins behind the constructors. [`_mcleanup`] is registered before
/// anything of the program's, so it runs after all of it.
pub(super) unsafe extern "C" fn start(argc: c_int, words: *const *const c_char, cleanup: *const c_void) -> ! {
    // SAFETY: by the contract of the kernel, argv follows argc, with a null pointer behind, and the environment follows argv.
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
        run((&raw const __preinit_array_start).cast(), (&raw const __preinit_array_end).cast());
        begin(envp);
        run((&raw const __init_array_start).cast(), (&raw const __init_array_end).cast());
        __csu_do_fini_array = 1;
        __init();
        exit(main(argc, argv, *environment))
    }
}

/// Starts profiling, unless the process has rights that its user has not.
///
/// # Safety
///
/// `envp` must be the environment; libc must be initialized, and this thread the only one.
unsafe fn begin(envp: *const *const c_char) {
    if has_other_rights() {
        return; // a set-user-id program writes nothing where its user says
    }
    remember_standard_error();
    // The kernel counts nothing outside the program.
    forget_outside();
    // SAFETY: the caller's promise; libc has set the name to a string.
    let settings = unsafe { settings::read(CStr::from_ptr(__progname), envp) };
    let (lowpc, highpc) = program::text();
    control::start(lowpc, highpc, settings.directory.map(|fd| fd.0), false);
    if is_profiled() {
        settings.prepare_snapshots();
    }
    if let Some(fd) = settings.directory {
        let _ = fd.close();
    }
    // SAFETY: libc is initialized.
    unsafe {
        atexit(_mcleanup);
        _thread_atfork(before_fork, after_fork_in_parent, after_fork_in_child, core::ptr::null());
    }
}
