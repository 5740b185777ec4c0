//! What the kernel does when a process forks.

use super::{system, termination};
use crate::file::output;
use crate::objects;
use crate::samples::{bins, outside_text};

/// What the kernel does for the child of a fork: it goes on sampling, into the same buffer, and will store a file of its
/// own. `was_writing` says whether the parent was, in whatever thread, about to write its file.
pub fn after_fork_in_child(was_writing: bool) {
    output::after_fork_in_child();
    bins::after_fork_in_child();
    outside_text::after_fork_in_child();
    objects::after_fork_in_child(was_writing);
    termination::after_fork_in_child();
    system::after_fork_in_child();
}
