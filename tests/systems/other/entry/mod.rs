//! The items of a system in `entry/`, which its C library and compilers call. `tests/tests/house/systems.rs` compiles
//! this folder; nothing runs it.

use core::ffi::{CStr, c_char};

use crate::control::{_mcleanup, after_fork_in_parent, before_fork};
use crate::objects::program;

/// Runs at the start of the program.
#[unsafe(no_mangle)]
unsafe extern "C" fn at_start(name: *const c_char, environment: *const *const c_char) {
    // SAFETY: the arguments that the C library passes.
    unsafe { super::begin::begin(Some(CStr::from_ptr(name)), environment, program::text(), || {}) }
}

/// Replaces the C library's `fork`.
#[unsafe(no_mangle)]
extern "C" fn at_fork(fork: extern "C" fn() -> bool) {
    before_fork();
    if fork() { after_fork_in_parent() } else { super::begin::after_fork_in_child() }
}

/// Runs before the program installs a filter of system calls, and after the kernel has refused the filter.
#[cfg(feature = "start")]
#[unsafe(no_mangle)]
extern "C" fn at_sandbox(is_refused: bool) {
    use crate::control::{get_ready, hold, is_in_file, is_profiled, snapshot, write_snapshot};
    use crate::process::exits;

    if is_refused {
        snapshot::watch_again();
        exits::watch_again(crate::os::NO_SIGNALS);
    } else if is_profiled() && !is_in_file() {
        hold(true);
        get_ready(true, false);
        snapshot::unwatch();
        exits::give_way();
        let _ = exits::unwatch();
        write_snapshot();
    }
}

/// Runs after the end of the program.
#[unsafe(no_mangle)]
extern "C" fn at_end() {
    _mcleanup();
}
