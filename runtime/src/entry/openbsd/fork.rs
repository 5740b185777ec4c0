//! The child of a fork starts its own profile, because the kernel writes a separate file for the child, with the
//! child's process ID.

use crate::control;
use crate::kernel::system::keep_arcs_after_fork;

/// Empties the profile in the child of a fork. libc's `fork` calls this function in the child before `fork` returns.
pub(super) extern "C" fn after_fork_in_child() {
    keep_arcs_after_fork(|| control::after_fork_in_child());
}
