//! Writes the file while the program continues: `gmon_dump`, and a signal with the same effect.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::moncontrol::{is_ours, write_snapshot};
use crate::message::say_error;
use crate::os::{SignalInfo, catch_signal};
#[cfg(all(feature = "start", not(test)))]
use crate::os::{is_not_handled, uncatch_signal};
use crate::state::Inherited;

/// `void gmon_dump(void)`: writes the file with the counts so far; profiling continues. May be called in any thread
/// and in signal handlers. If two threads call the function at once, one waits for the other.
#[unsafe(no_mangle)]
extern "C" fn gmon_dump() {
    // The child of a vfork shares its parent's profile and must not write the file.
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

/// The signal that makes the runtime write the file; 0 for none.
static SIGNAL: Inherited<AtomicI32> = Inherited::new("the child inherits the handler", AtomicI32::new(0));

/// Installs the handler that writes the file for this signal.
pub(crate) fn watch(signal: c_int) {
    match catch_signal(signal, on_signal) {
        Ok(()) => SIGNAL.store(signal, Relaxed),
        Err(error) => say_error(&[b"GMON_DUMP_SIGNAL: sigaction"], error),
    }
}

/// Restores the signal's default action, because a seccomp filter is about to forbid the return from its handler.
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn unwatch() {
    let signal = SIGNAL.load(Relaxed);
    if signal != 0 {
        uncatch_signal(signal, on_signal);
    }
}

/// Undoes [`unwatch`].
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn watch_again() {
    let signal = SIGNAL.load(Relaxed);
    if signal != 0 && is_not_handled(signal) {
        watch(signal);
    }
}

/// Handles the signal.
unsafe extern "C" fn on_signal(_signal: c_int, _info: *const SignalInfo, _context: *const c_void) {
    gmon_dump();
}
