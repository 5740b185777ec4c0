//! The C start-up contract: functions that run before the program's constructors and after the program's destructors.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use super::fork;
#[cfg(feature = "start")]
use crate::control::forbid_start;
use crate::control::{_mcleanup, is_profiled, strings};
use crate::entry::begin;
use crate::objects::program;
use crate::os::has_other_rights;
use crate::process::exits;
use crate::state::Inherited;

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// The address of the dynamic linker's cleanup function, which `_start` stores; 0 in a static program.
pub(super) static CLEANUP: Inherited<AtomicUsize> =
    Inherited::new("how the program was started", AtomicUsize::new(NOT_STARTED));
/// `_start` has not run yet: the dynamic linker runs the program's arrays before `_start`.
const NOT_STARTED: usize = 1;

/// The process's environment. Start-up code defines the variable for libc; libc or the dynamic linker sets the
/// variable.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's name")]
static environ: Inherited<AtomicPtr<*const c_char>> =
    Inherited::new("how the program was started", AtomicPtr::new(core::ptr::null_mut()));

/// Returns the process's environment as it is now.
pub(super) fn environment() -> *const *const c_char {
    environ.load(Relaxed).cast_const()
}

/// The program's name without directories. libc or the dynamic linker sets this variable too.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's name")]
static __progname: Inherited<AtomicPtr<c_char>> =
    Inherited::new("how the program was started", AtomicPtr::new(c"".as_ptr().cast_mut()));

/// Starts profiling. Called before the program's constructors.
///
/// In a dynamic program, libc calls the functions of `atexit` in the order last to first, and the dynamic linker's
/// function, which runs the destructors of all objects, is one of them: the dynamic linker registers it after
/// `.preinit_array` ran (`__libc_atexit`), and older dynamic linkers let `_start` register it. A function that is
/// registered here therefore runs after all destructors.
pub(super) unsafe extern "C" fn begin(_argc: c_int, argv: *const *const c_char, envp: *const *const c_char) {
    fork::find_next();
    if CLEANUP.load(Relaxed) == NOT_STARTED {
        // SAFETY: libc has room for this function, the first, and needs no initialization for it.
        unsafe { atexit(_mcleanup) };
    }
    // SAFETY: the caller passes the arrays of the process's start.
    unsafe { begin_with(strings(argv).next(), envp, program::text()) }
}

/// Completes start-up with the parts that need the C library. Runs as the first of the program's constructors; neither
/// libc nor libthr is initialized when [`begin()`] runs.
pub(super) unsafe extern "C" fn begin_in_libc() {
    if is_profiled() {
        exits::watch_quick_exit();
    }
}

/// Starts profiling the code in an address range of the named program, unless the process is set-user-ID or
/// set-group-ID.
///
/// # Safety
///
/// As for [`begin::begin`].
unsafe fn begin_with(name: Option<&CStr>, envp: *const *const c_char, text: (usize, usize)) {
    if has_other_rights() {
        #[cfg(feature = "start")]
        forbid_start();
        return; // a set-user-ID program must not write to a place that its user chooses
    }
    // SAFETY: the caller guarantees the requirements. `fork` handles forks; `begin_in_libc` does the rest.
    unsafe { begin::begin(name, envp, text, || {}) };
    // Programs that check for handlers would see gmon's handlers.
    if is_profiled() {
        exits::give_way();
    }
}

/// Ends profiling in a static program as the last destructor. A dynamic program ends profiling later; see [`begin()`].
pub(super) unsafe extern "C" fn finish_static() {
    if CLEANUP.load(Relaxed) == 0 {
        _mcleanup();
    }
}
