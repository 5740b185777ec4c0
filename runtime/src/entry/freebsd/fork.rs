//! `fork`: the child begins a profile of its own.
//!
//! `pthread_atfork` would not do: libc's does nothing where the program is not linked with libthr.

use core::ffi::c_int;
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::machine::thread_fork_address;
use crate::control;
use crate::entry::begin::after_fork_in_child;
use crate::os::{next_definition, raw_fork, set_errno};
use crate::ownership;

type Fork = unsafe extern "C" fn() -> c_int;

/// The next definition of `fork`; 0 if there is none.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Looks up the next definition, for programs with a dynamic linker. At the start.
pub(super) fn find_next() {
    NEXT.store(next_definition(c"fork"), Relaxed);
}

/// The C library's `fork`: the next definition of that name, or libthr's in a static program with threads.
fn theirs() -> Option<Fork> {
    let next = match NEXT.load(Relaxed) {
        0 => thread_fork_address(),
        next => next,
    };
    // SAFETY: null, or a function of that type.
    unsafe { mem::transmute(next) }
}

/// `pid_t fork(void)`: the C library's. The child begins at zero and is profiled as its parent is.
#[unsafe(no_mangle)]
extern "C" fn fork() -> c_int {
    let fork_once = || match theirs() {
        // SAFETY: the C library's own function.
        Some(fork) => unsafe { fork() },
        // A static program without threads, for which libc's function does no more.
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
