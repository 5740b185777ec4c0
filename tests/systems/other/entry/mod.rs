//! What stands above the runtime in `entry/`: whatever a system's C library and compilers call, it comes in here. It is compiled by
//! `tests/tests/systems.rs`, and never run.

use core::ffi::{CStr, c_char};

use crate::control::{_mcleanup, after_fork_in_parent, before_fork};
use crate::objects::program;

/// At the start of the program.
#[unsafe(no_mangle)]
unsafe extern "C" fn at_start(name: *const c_char, environment: *const *const c_char) {
    // SAFETY: what the C library hands over.
    unsafe { super::begin::begin(Some(CStr::from_ptr(name)), environment, program::text(), || {}) }
}

/// In place of the C library's `fork`.
#[unsafe(no_mangle)]
extern "C" fn at_fork(fork: extern "C" fn() -> bool) {
    before_fork();
    if fork() { after_fork_in_parent() } else { super::begin::after_fork_in_child() }
}

/// Before the program gives up system calls, and when that has failed.
#[cfg(feature = "start")]
#[unsafe(no_mangle)]
extern "C" fn at_sandbox(is_refused: bool) {
    use crate::control::{get_ready, is_in_file, is_profiled, snapshot, write_snapshot};
    use crate::process::exits;

    if is_refused {
        snapshot::watch_again();
        exits::watch_again(crate::os::NO_SIGNALS);
    } else if is_profiled() && !is_in_file() {
        get_ready(true, false);
        snapshot::unwatch();
        exits::give_way();
        let _ = exits::unwatch();
        write_snapshot();
    }
}

/// Behind its end.
#[unsafe(no_mangle)]
extern "C" fn at_end() {
    _mcleanup();
}
