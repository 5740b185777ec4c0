//! Writes the file while the program continues: `gmon_dump`, and a signal with the same effect.

use core::ffi::{c_int, c_void};

use super::environment::Variable;
use super::moncontrol::{is_ours, write_snapshot};
use super::watched_signal::WatchedSignal;
use crate::os::SignalInfo;
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

/// The signal that makes the runtime write the file.
static SIGNAL: Inherited<WatchedSignal> =
    Inherited::new("the child inherits the handler", WatchedSignal::new(Variable::DumpSignal, on_signal));

/// Installs the handler that writes the file for this signal.
pub(crate) fn watch(signal: c_int) {
    SIGNAL.watch(signal);
}

/// Restores the signal's default action: see [`WatchedSignal::unwatch`].
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn unwatch() {
    SIGNAL.unwatch();
}

/// Undoes [`unwatch`].
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn watch_again() {
    SIGNAL.watch_again();
}

/// Handles the signal.
unsafe extern "C" fn on_signal(_signal: c_int, _info: *const SignalInfo, _context: *const c_void) {
    gmon_dump();
}
