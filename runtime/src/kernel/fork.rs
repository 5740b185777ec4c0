//! What a kernel with `profil` does when a process forks.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::system;
use crate::objects;
use crate::os::{process_id, unix_time};
use crate::ownership::{FORKED, own};
use crate::per_process::PER_PROCESS;
use crate::unwind;

/// Resets the child of a fork: the child continues to sample into the same buffer, from zero, and will write its own
/// file. `was_writing` says whether any thread of the parent was writing the parent's file.
pub fn after_fork_in_child(was_writing: bool) {
    PER_PROCESS.reset();
    // Before the sampler starts: the start time decides when the process's timer expires for the first time.
    PER_PROCESS.start_time.store(unix_time(), SeqCst);
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

    unsafe extern "C" {
        fn fork() -> c_int;
        fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    }

    #[test]
    fn the_sampler_of_a_child_knows_when_the_child_began() {
        // SAFETY: the child calls only functions of the runtime, which take no lock, and then ends.
        let child = unsafe { fork() };
        if child == 0 {
            after_fork_in_child(false);
            exit_process(c_int::from(PER_PROCESS.start_time.load(SeqCst) == 0));
        }
        let mut status = -1;
        // SAFETY: a valid address.
        let ended = unsafe { waitpid(child, &raw mut status, 0) };
        assert_eq!((ended, status), (child, 0));
    }
}
