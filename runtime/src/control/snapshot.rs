//! The file while the program goes on: `gmon_dump`, and the signal that does the same.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::moncontrol::{is_ours, write_snapshot};
use crate::message::say_error;
use crate::os::{SignalInfo, catch_signal};
#[cfg(all(feature = "start", not(test)))]
use crate::os::{is_not_handled, uncatch_signal};

/// `void gmon_dump(void)`: writes the file as it would be now, and lets profiling go on. In any thread and in signal
/// handlers; of two at once, one waits for the other.
#[unsafe(no_mangle)]
extern "C" fn gmon_dump() {
    // The child of a vfork has its parent's profile, and is not to write it.
    if is_ours() {
        write_snapshot();
    }
}

/// `void write_profiling(void)`: glibc's name for [`gmon_dump`] until 2.40.
#[unsafe(no_mangle)]
extern "C" fn write_profiling() {
    gmon_dump();
}

/// glibc's own name for [`write_profiling`].
#[unsafe(no_mangle)]
extern "C" fn __write_profiling() {
    gmon_dump();
}

/// The signal by which the file is written; 0 for none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Has the file written whenever the process gets this signal.
pub(crate) fn watch(signal: c_int) {
    match catch_signal(signal, on_signal) {
        Ok(()) => SIGNAL.store(signal, Relaxed),
        Err(error) => say_error(&[b"GMON_DUMP_SIGNAL: sigaction"], error),
    }
}

/// Leaves that signal to itself: a filter of system calls is about to forbid that its handler returns.
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn unwatch() {
    let signal = SIGNAL.load(Relaxed);
    if signal != 0 {
        uncatch_signal(signal, on_signal);
    }
}

/// Undoes that.
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn watch_again() {
    let signal = SIGNAL.load(Relaxed);
    if signal != 0 && is_not_handled(signal) {
        watch(signal);
    }
}

/// The handler of that signal.
unsafe extern "C" fn on_signal(_signal: c_int, _info: *const SignalInfo, _context: *const c_void) {
    gmon_dump();
}
