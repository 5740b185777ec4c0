//! System calls on signals that FreeBSD and OpenBSD pass different arguments to.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use super::signal_set::{SignalSet, only};
use super::{Errno, call, numbers, thread_id};

use crate::state::Inherited;

/// Changes the signal mask of this thread, and returns the previous mask.
pub(super) fn change_blocked(how: usize, signals: SignalSet) -> Result<SignalSet, Errno> {
    let mut before = MaybeUninit::<SignalSet>::uninit();
    // SAFETY: the kernel reads `signals` and writes the whole set `before`.
    unsafe {
        call(numbers::SIGPROCMASK, [how, (&raw const signals).addr(), before.as_mut_ptr().addr()])?;
        Ok(SignalSet::read(before.as_ptr()))
    }
}

/// Returns the pending signals.
///
/// # Errors
///
/// The error of sigpending(2).
pub(crate) fn pending_signals() -> Result<SignalSet, Errno> {
    let mut pending = MaybeUninit::<SignalSet>::uninit();
    // SAFETY: the kernel writes the whole set.
    unsafe {
        call(numbers::SIGPENDING, [pending.as_mut_ptr().addr()])?;
        Ok(SignalSet::read(pending.as_ptr()))
    }
}

/// Discards a signal if it is pending.
pub(crate) fn take_signal(signal: c_int) {
    static NO_TIME: Inherited<[i64; 2]> = Inherited::new("never changes", [0, 0]);
    let set = only(signal);
    let arguments = [(&raw const set).addr(), 0, (&raw const NO_TIME).addr()];
    // SAFETY: the kernel reads a set and a struct timespec.
    let _ = unsafe { call(numbers::SIGTIMEDWAIT, arguments) };
}

/// Sends a signal to this thread.
pub(super) fn send_to_this_thread(signal: c_int) {
    // SAFETY: no pointers.
    let _ = unsafe { call(numbers::THR_KILL, [thread_id() as usize, signal as usize]) };
}
