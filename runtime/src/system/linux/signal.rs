//! Signals.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use super::{Errno, call, process_id, thread_id};
use crate::arch::{self, numbers};

pub(super) const SIGPROF: usize = 27;

/// The signals that end a process unless it says otherwise: HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM
/// TERM STKFLT XCPU VTALRM IO PWR SYS. (KILL cannot be caught, PROF is ours, XFSZ is left to who writes files.)
pub(crate) const FATAL_SIGNALS: [c_int; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 24, 26, 29, 30, 31];

const SIG_BLOCK: usize = 0;
const SIG_UNBLOCK: usize = 1;
const SIG_SETMASK: usize = 2;
const SIG_DFL: usize = 0;
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
    /// Whether a timer of a thread sent the signal, and not the process's one.
    pub(crate) fn is_from_timer(&self) -> bool {
        self.code == SI_TIMER
    }

    /// How many expiries the signal stands for: a timer whose signal was not delivered in time sends no second one.
    pub(crate) fn expiries(&self) -> u32 {
        if self.code == SI_TIMER { 1 + self.overrun.max(0) as u32 } else { 1 }
    }
}

/// A handler of a signal.
pub(crate) type Handler = unsafe extern "C" fn(c_int, *const SignalInfo, *const c_void);

/// Makes `handler` the process's handler of SIGPROF.
pub(crate) fn catch_signal(handler: Handler) -> Result<(), Errno> {
    // SAFETY: the handler is of the kind that the action's flags say.
    unsafe { set_action(SIGPROF, &catching(handler, SA_RESTART), ptr::null_mut()) }
}

/// Makes `handler` the handler of a signal that has none and is not ignored.
pub(crate) fn on_fatal_signal(signal: c_int, handler: Handler) -> Result<(), Errno> {
    let signal = signal as usize;
    let mut before = MaybeUninit::<SignalAction>::uninit();
    // SAFETY: nothing is set, and there is room for what is.
    unsafe { set_action(signal, ptr::null(), before.as_mut_ptr()) }?;
    // SAFETY: the kernel has written it.
    if unsafe { before.assume_init() }.handler != SIG_DFL {
        return Ok(());
    }
    // SAFETY: the handler is of the kind that the action's flags say.
    unsafe { set_action(signal, &catching(handler, 0), ptr::null_mut()) }
}

fn catching(handler: Handler, flags: usize) -> SignalAction {
    SignalAction {
        handler: handler as usize,
        // On the alternate stack where the thread has one: its own may be too small.
        flags: SA_SIGINFO | SA_ONSTACK | SA_RESTORER | flags,
        restorer: arch::signal_return as *const () as usize,
        mask: 0,
    }
}

/// Lets the signal have its own effect from now on.
pub(crate) fn default_action(signal: c_int) {
    let default = SignalAction { handler: SIG_DFL, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: the default is always sound.
    let _ = unsafe { set_action(signal as usize, &default, ptr::null_mut()) };
}

/// Sends this thread a signal; if it is blocked, as in its own handler, it comes in later.
pub(crate) fn send_to_this_thread(signal: c_int) {
    let arguments = [process_id() as usize, thread_id() as usize, signal as usize];
    // SAFETY: no pointers.
    let _ = unsafe { call(numbers::TGKILL, arguments) };
}

/// Blocks every signal for this thread; returns which were blocked.
pub(crate) fn block_signals() -> u64 {
    change_blocked(SIG_BLOCK, u64::MAX)
}

/// Lets a signal in; if it is waiting, it is delivered before this returns.
pub(crate) fn unblock_signal(signal: c_int) {
    change_blocked(SIG_UNBLOCK, 1 << (signal - 1));
}

/// Blocks just these signals for this thread.
pub(crate) fn set_blocked_signals(blocked: u64) {
    change_blocked(SIG_SETMASK, blocked);
}

fn change_blocked(how: usize, signals: u64) -> u64 {
    let mut before = 0_u64;
    let arguments = [how, (&raw const signals).addr(), (&raw mut before).addr(), size_of::<u64>()];
    // SAFETY: the kernel reads one set and writes the other, 8 bytes each.
    let _ = unsafe { call(numbers::RT_SIGPROCMASK, arguments) };
    before
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
