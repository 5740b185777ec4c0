//! The system call that sets and reads the action of a signal.

use core::ffi::c_int;

use super::constants::SignalAction;
use super::{Errno, call, numbers};

/// Sets a signal's action unless `action` is null, and stores the previous action unless `before` is null.
///
/// # Safety
///
/// `action` must be null or an action that is sound to set; `before` must be null or valid for writing.
pub(super) unsafe fn set_action(
    signal: c_int,
    action: *const SignalAction,
    before: *mut SignalAction,
) -> Result<(), Errno> {
    // SAFETY: the caller guarantees that both pointers are null or valid.
    unsafe { call(numbers::SIGACTION, [signal as usize, action.addr(), before.addr()]) }.map(|_| ())
}
