//! The C start-up contract: what runs before everything of the program's own, and what runs after it.

use core::ffi::{CStr, c_char, c_int};
use core::mem;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use super::fork;
use crate::control::{_mcleanup, is_profiled, strings};
use crate::entry::begin;
use crate::objects::program;
use crate::os::has_other_rights;
use crate::process::exits;

/// The dynamic linker's function that `_start` got, which runs destructors; 0 in a static program.
pub(super) static CLEANUP: AtomicUsize = AtomicUsize::new(0);

/// The process's environment, as libc's functions know it: start-up code defines it, and libc or the dynamic linker sets it.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's name")]
static environ: AtomicPtr<*const c_char> = AtomicPtr::new(core::ptr::null_mut());

/// The last part of the program's name, of which the same is true.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's name")]
static __progname: AtomicPtr<c_char> = AtomicPtr::new(c"".as_ptr().cast_mut());

/// Starts profiling. Called before any constructor of the program.
pub(super) unsafe extern "C" fn begin(_argc: c_int, argv: *const *const c_char, envp: *const *const c_char) {
    fork::find_next();
    // SAFETY: the arrays of the process's start.
    unsafe { begin_with(strings(argv).next(), envp, program::text()) }
}

/// Goes on with what the C library is needed for: the first of the program's constructors. When [`begin()`] is called, neither libc nor
/// libthr has been initialized.
pub(super) unsafe extern "C" fn begin_in_libc() {
    if is_profiled() {
        exits::watch_quick_exit();
    }
}

/// Starts profiling the code from one address to another of the program of that name, unless the process has rights that its
/// user has not.
///
/// # Safety
///
/// As for [`begin::begin`].
unsafe fn begin_with(name: Option<&CStr>, envp: *const *const c_char, text: (usize, usize)) {
    if has_other_rights() {
        return; // a set-user-id program writes nothing where its user says
    }
    // The kernel counts nothing outside the program, and there is no list of what is mapped in a file system.
    crate::control::forget_outside();
    // SAFETY: the caller's promise. Forks are seen by the function of that name, see `fork`; for the rest see `begin_in_libc`.
    unsafe { begin::begin(name, envp, text, || {}) };
    // Programs look for handlers, and see ours.
    exits::give_way();
}

/// Ends profiling in a dynamic program. libc calls it in place of the dynamic linker's own, which libc was told is this, as the very
/// last of what is called at exit.
pub(super) unsafe extern "C" fn finish() {
    // SAFETY: null or the function that the entry contract of the process passes, which takes no argument; a nullable
    // function pointer is what this type is laid out as.
    let cleanup: Option<unsafe extern "C" fn()> = unsafe { mem::transmute(CLEANUP.load(Relaxed)) };
    if let Some(cleanup) = cleanup {
        // SAFETY: called as libc would have, once.
        unsafe { cleanup() };
    }
    _mcleanup();
}

/// Ends profiling in a static program, as the last of its destructors. In a dynamic one [`finish`] comes later.
pub(super) unsafe extern "C" fn finish_static() {
    if CLEANUP.load(Relaxed) == 0 {
        _mcleanup();
    }
}
