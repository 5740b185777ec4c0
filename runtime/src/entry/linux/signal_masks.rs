//! `sigprocmask` and `pthread_sigmask`: a thread that blocks every signal is sampled all the same, and does not see a
//! difference.
//!
//! Servers block all signals in their first thread and wait for signals in another. Such a thread would not be
//! sampled, and `sigwait` would return the sampling signal. So the kernel's mask leaves the sampling signal unblocked
//! if a thread blocks all signals, and such a thread is told that the signal is blocked. The kernel's mask is the
//! only record, so handlers that return, jumps and new threads keep it right.

use core::ffi::c_int;

use crate::kernel::system::{blocked_as_told, to_be_blocked};
use crate::os::{Errno, SIG_UNBLOCK, change_mask, set_errno};

/// The C library's own signals, 32 and 33, which a program can neither block nor see.
const INTERNAL: u64 = 0b11 << 31;

/// # Safety
///
/// `set` must be null or a set of signals, `before` null or valid for writing one.
unsafe fn change(how: c_int, set: *const u64, before: *mut u64) -> Result<(), Errno> {
    // SAFETY: the caller's promise. The kernel's sets are the first word of the C libraries' sets.
    let wanted = unsafe { set.as_ref() }.map(|set| {
        let signals = set & !INTERNAL;
        if how as usize == SIG_UNBLOCK { signals } else { to_be_blocked(signals) }
    });
    let found = change_mask(how as usize, wanted.as_ref())?;
    // SAFETY: the caller's promise.
    if let Some(before) = unsafe { before.as_mut() } {
        *before = blocked_as_told(found);
    }
    Ok(())
}

/// `int pthread_sigmask(int how, const sigset_t *set, sigset_t *oldset)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const u64, before: *mut u64) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { change(how, set, before) }.map_or_else(|error| error.0, |()| 0)
}

/// `int sigprocmask(int how, const sigset_t *set, sigset_t *oldset)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigprocmask(how: c_int, set: *const u64, before: *mut u64) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { change(how, set, before) } {
        Ok(()) => 0,
        Err(error) => {
            set_errno(error);
            -1
        }
    }
}
