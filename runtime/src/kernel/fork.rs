//! What a kernel with `profil` does when a process forks.

use core::sync::atomic::Ordering::Relaxed;

use super::{system, termination};
use crate::file::{kept, mapped, names, one_writer, side_file};
use crate::os::process_id;
use crate::ownership::{self, FORKED, begin_now, own};
use crate::samples::{bins, contexts, outside_text};
use crate::state::reset_list;
use crate::{objects, unwind};

// What the modules above do not have: `control` has a list of its own.
reset_list! {
    ownership,
    bins,
    outside_text,
    contexts::storage,
    kept,
    mapped,
    names,
    one_writer,
    side_file::run,
    side_file::threads,
    termination,
    system,
}

/// Resets the child of a fork: the child continues to sample into the same buffer, from zero, and will write its own
/// file. `was_writing` says whether any thread of the parent was writing the parent's file.
pub fn after_fork_in_child(was_writing: bool) {
    reset_statics();
    // Before the sampler starts: the start time decides when the process's timer expires for the first time.
    begin_now();
    own(process_id());
    FORKED.store(true, Relaxed);
    objects::after_fork_in_child(was_writing);
    unwind::after_fork_in_child();
    system::after_fork_in_child();
}

#[cfg(test)]
mod tests {
    use core::ffi::c_int;

    use super::*;
    use crate::os::exit_process;
    use crate::samples::is_alone;
    use crate::state::check_reset;

    unsafe extern "C" {
        fn fork() -> c_int;
        fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    }

    #[test]
    fn a_child_resets_every_static_below_the_runtime() {
        if is_alone("kernel::fork::tests::a_child_resets_every_static_below_the_runtime") {
            check_reset(each_static, reset_statics);
        }
    }

    #[test]
    fn the_sampler_of_a_child_knows_when_the_child_began() {
        // SAFETY: the child calls only functions of the runtime, which take no lock, and then ends.
        let child = unsafe { fork() };
        if child == 0 {
            after_fork_in_child(false);
            exit_process(c_int::from(ownership::start_time() == 0));
        }
        let mut status = -1;
        // SAFETY: a valid address.
        let ended = unsafe { waitpid(child, &raw mut status, 0) };
        assert_eq!((ended, status), (child, 0));
    }
}
