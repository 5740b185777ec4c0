//! Signals.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use super::{Errno, call};
use crate::arch::{self, numbers};

pub(super) const SIGPROF: usize = 27;
const SIGXFSZ: usize = 25;
const SIG_IGN: usize = 1;
const SI_TIMER: i32 = -2;
const SA_SIGINFO: usize = 4;
const SA_RESTORER: usize = 0x0400_0000;
const SA_ONSTACK: usize = 0x0800_0000;
const SA_RESTART: usize = 0x1000_0000;

/// `struct sigaction` as the kernel has it (the C library's differs).
#[repr(C)]
struct SignalAction {
    /// A [`Handler`], or one of the numbers that stand for one.
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

/// The start of `siginfo_t`.
#[repr(C)]
pub(crate) struct SignalInfo {
    signal: i32,
    error: i32,
    code: i32,
    padding: i32,
    timer: i32,
    overrun: i32,
}

impl SignalInfo {
    /// How many expiries the signal stands for: a timer whose signal was not delivered in time sends no second one.
    pub(crate) fn expiries(&self) -> u32 {
        if self.code == SI_TIMER { 1 + self.overrun.max(0) as u32 } else { 1 }
    }
}

/// A handler of SIGPROF.
pub(crate) type Handler = unsafe extern "C" fn(c_int, *const SignalInfo, *const c_void);

/// Makes `handler` the process's handler of SIGPROF.
pub(crate) fn catch_signal(handler: Handler) -> Result<(), Errno> {
    let action = SignalAction {
        handler: handler as usize,
        // On the alternate stack where the thread has one: its own may be too small.
        flags: SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_RESTORER,
        restorer: arch::signal_return as *const () as usize,
        mask: 0,
    };
    // SAFETY: the action is whole, and the handler is of the kind that its flags say.
    unsafe { set_action(SIGPROF, &action, ptr::null_mut()) }
}

/// Runs `work` with SIGXFSZ ignored: past the limit of a file's size, a write is then an error and not the end of the
/// process.
pub(crate) fn without_file_size_signal<T>(work: impl FnOnce() -> T) -> T {
    let ignored = SignalAction { handler: SIG_IGN, flags: 0, restorer: 0, mask: 0 };
    let mut before = MaybeUninit::uninit();
    // SAFETY: the action is whole, and there is room for the one before.
    let changed = unsafe { set_action(SIGXFSZ, &ignored, before.as_mut_ptr()) };
    let result = work();
    if changed.is_ok() {
        // SAFETY: what the kernel wrote there is what it had.
        let _ = unsafe { set_action(SIGXFSZ, before.as_ptr(), ptr::null_mut()) };
    }
    result
}

/// Sets a signal's action, and says what it was.
///
/// # Safety
///
/// `action` must be one that is sound to set, and `before` null or valid for writing.
unsafe fn set_action(signal: usize, action: *const SignalAction, before: *mut SignalAction) -> Result<(), Errno> {
    // A set of signals is 8 bytes long.
    let arguments = [signal, action.addr(), before.addr(), size_of::<u64>()];
    // SAFETY: the caller's promise.
    unsafe { call(numbers::RT_SIGACTION, arguments) }.map(|_| ())
}
