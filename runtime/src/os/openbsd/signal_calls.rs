//! The system calls for signals whose arguments differ between FreeBSD and OpenBSD.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

use super::constants::{NO_MASK, SignalAction};
use super::signal_action::set_action;
use super::signal_set::SignalSet;
use super::{Errno, call, numbers, thread_id};

/// The handler that ignores a signal.
const SIG_IGN: usize = 1;

/// Changes the signal mask of this thread, and returns the previous mask. OpenBSD passes both masks by value.
pub(super) fn change_blocked(how: usize, signals: SignalSet) -> Result<SignalSet, Errno> {
    // SAFETY: no pointers.
    unsafe { call(numbers::SIGPROCMASK, [how, signals.0 as usize]) }.map(|before| SignalSet(before as u32))
}

/// Returns the pending signals.
///
/// # Errors
///
/// The error of sigpending(2).
pub(crate) fn pending_signals() -> Result<SignalSet, Errno> {
    // SAFETY: no pointers.
    unsafe { call(numbers::SIGPENDING, []) }.map(|pending| SignalSet(pending as u32))
}

/// Discards a signal if the signal is pending. OpenBSD has no sigtimedwait, but the kernel discards a pending signal
/// when the process ignores the signal, so this function ignores the signal for a moment.
pub(crate) fn take_signal(signal: c_int) {
    let ignored = SignalAction { handler: SIG_IGN, flags: 0, mask: NO_MASK };
    let mut before = MaybeUninit::<SignalAction>::uninit();
    // SAFETY: ignoring a signal is always sound, and the kernel writes the whole previous action.
    unsafe {
        if set_action(signal, &ignored, before.as_mut_ptr()).is_ok() {
            let _ = set_action(signal, before.as_ptr(), ptr::null_mut());
        }
    }
}

/// Sends a signal to this thread.
pub(super) fn send_to_this_thread(signal: c_int) {
    // SAFETY: no pointers.
    let _ = unsafe { call(numbers::THRKILL, [thread_id() as usize, signal as usize, 0]) };
}
