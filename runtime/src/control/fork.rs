//! What happens when the process forks.

use super::moncontrol::{self, current, give_up, this_is_first_thread};
use super::{attach, calls, clock, merge};
use crate::file::one_writer::{DONE, NOBODY, set_writer, writer};
use crate::file::{self, Children};
use crate::kernel;
use crate::mcount::{self, threads};
use crate::samples::bins;
use crate::state::reset_list;

// The runtime's own statics. `kernel` has the list of all modules below.
reset_list! { attach, calls, calls::switching, calls::windows, clock, merge, moncontrol, threads }

/// Prepares this thread for a fork.
pub(crate) extern "C" fn before_fork() {
    mcount::before_fork();
}

/// Undoes [`before_fork`] in the parent.
pub(crate) extern "C" fn after_fork_in_parent() {
    mcount::after_fork_in_parent();
}

/// Resets the child of a fork: the child starts from zero and is profiled as its parent is. A file in which the
/// parent counts stays the parent's; the child writes its own file at its end.
pub(crate) extern "C" fn after_fork_in_child() {
    let shared = file::leave_live();
    if shared {
        bins::leave_file();
    }
    let has_left = file::leave_file();
    let leaves_nothing = file::children_leave(Children::None);
    if leaves_nothing {
        bins::stop(); // the kernel's part starts no sampler then
    }
    // Another thread may have been writing the parent's file; that thread does not exist in the child.
    let writer = writer();
    reset_statics();
    kernel::after_fork_in_child(!matches!(writer, NOBODY | DONE));
    if writer == DONE {
        set_writer(DONE);
    }
    this_is_first_thread();
    calls::after_fork_in_child(!matches!(writer, NOBODY | DONE));
    // SAFETY: the child has one thread, and signals are blocked.
    let cleared = current().is_none_or(|buffer| unsafe { buffer.clear(shared) });
    let whole = mcount::after_fork_in_child(shared);
    if !has_left || !cleared || !whole || leaves_nothing {
        // Without memory of its own the child would count in its parent's memory.
        give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::is_alone;
    use crate::state::check_reset;

    #[test]
    fn a_child_resets_every_static_of_the_runtime() {
        if is_alone("control::fork::tests::a_child_resets_every_static_of_the_runtime") {
            check_reset(each_static, reset_statics);
        }
    }
}
