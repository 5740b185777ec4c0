//! The child of a fork begins a profile of its own: the kernel writes the child's file under the child's number.

use crate::control;
use crate::kernel::system::keep_arcs_after_fork;

/// Runs first in the child of a fork.
pub(super) extern "C" fn after_fork_in_child() {
    keep_arcs_after_fork(|| control::after_fork_in_child());
}
