//! What the kernel does when a process forks.

use core::sync::atomic::Ordering::Relaxed;

use super::system;
use crate::objects;
use crate::os::process_id;
use crate::ownership::{FORKED, own};
use crate::per_process::PER_PROCESS;

/// What the kernel does for the child of a fork: it begins anew, goes on sampling, into the same buffer, and will store a file of its
/// own. `was_writing` says whether the parent was, in whatever thread, about to write its file.
pub fn after_fork_in_child(was_writing: bool) {
    PER_PROCESS.reset();
    own(process_id());
    FORKED.store(true, Relaxed);
    objects::after_fork_in_child(was_writing);
    system::after_fork_in_child();
}
