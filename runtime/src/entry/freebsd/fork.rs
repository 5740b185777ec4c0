//! `fork`: the child starts its own profile.
//!
//! `pthread_atfork` is not sufficient: libc's version does nothing if the program is not linked with libthr.

use core::ffi::c_int;
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::machine::thread_fork_address;
use crate::control;
use crate::entry::begin::after_fork_in_child;
use crate::os::{next_definition, raw_fork, set_errno};
use crate::ownership;

type Fork = unsafe extern "C" fn() -> c_int;

/// The address of the next definition of `fork`; 0 if there is none.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Looks up the next definition in dynamic programs. Called at start-up.
pub(super) fn find_next() {
    NEXT.store(next_definition(c"fork"), Relaxed);
}

/// Returns the C library's `fork`: the next definition, or libthr's function in a static program with threads.
fn theirs() -> Option<Fork> {
    let next = match NEXT.load(Relaxed) {
        0 => thread_fork_address(),
        next => next,
    };
    // SAFETY: the address is 0 or the address of a function of this type.
    unsafe { mem::transmute(next) }
}

/// `pid_t fork(void)`: calls the C library's `fork`. The child's profile starts at zero.
#[unsafe(no_mangle)]
extern "C" fn fork() -> c_int {
    let fork_once = || match theirs() {
        // SAFETY: the function is the C library's `fork`.
        Some(fork) => unsafe { fork() },
        // A static program without threads: libc's fork only makes the system call too.
        None => raw_fork().unwrap_or_else(|error| {
            set_errno(error);
            -1
        }),
    };
    if !ownership::is_ours() {
        return fork_once();
    }
    control::before_fork();
    let process = fork_once();
    if process == 0 {
        after_fork_in_child();
    } else {
        control::after_fork_in_parent();
    }
    process
}
