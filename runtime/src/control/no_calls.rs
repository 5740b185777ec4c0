//! On this system, calls cannot be counted on demand: see `calls` on Linux.

use core::ffi::{c_char, c_int};

use crate::message::say;

/// The kernels of the BSDs do not let a process change its own code, or the runtime does not know how.
fn refuse() -> c_int {
    say(&[b"cannot count calls on demand on this system: compile with -pg"]);
    -1
}

/// Remembers nothing.
pub(crate) fn set_counter(_: usize) {}

/// Reports that calls cannot be counted on demand.
pub(crate) fn switch_on(_: &[u8]) {
    refuse();
}

/// Reports that calls cannot be counted on demand.
pub(crate) fn watch(_: c_int) {
    refuse();
}

/// `int gmon_calls(int on, const char *pattern)`: reports that calls cannot be counted on demand.
#[unsafe(no_mangle)]
extern "C" fn gmon_calls(_on: c_int, _pattern: *const c_char) -> c_int {
    refuse()
}

/// Does nothing.
pub(super) fn after_fork_in_child(_: bool) {}

/// Does nothing.
#[allow(dead_code, reason = "not all systems close objects")]
pub(crate) fn begin_closing() {}

/// Does nothing.
#[allow(dead_code, reason = "not all systems close objects")]
pub(crate) fn end_closing() {}
