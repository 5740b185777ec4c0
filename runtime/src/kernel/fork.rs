//! What a kernel with `profil` does when a process forks.

use core::sync::atomic::Ordering::Relaxed;

use super::system;
use crate::objects;
use crate::os::process_id;
use crate::ownership::{FORKED, own};
use crate::per_process::PER_PROCESS;
use crate::unwind;

/// Resets the child of a fork: the child continues to sample into the same buffer, from zero, and will write its own
/// file. `was_writing` says whether any thread of the parent was writing the parent's file.
pub fn after_fork_in_child(was_writing: bool) {
    PER_PROCESS.reset();
    own(process_id());
    FORKED.store(true, Relaxed);
    objects::after_fork_in_child(was_writing);
    unwind::after_fork_in_child();
    system::after_fork_in_child();
}
