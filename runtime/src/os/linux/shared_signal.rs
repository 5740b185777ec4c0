//! The program's action for the sampling signal. The kernel's handler stays the runtime's, which passes the program's
//! signals on.
//!
//! The record belongs to this process. The child of a `vfork` must not change it.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use super::Errno;
use super::alternate_stack::{SA_ONSTACK, alternate_stack};
use super::disposition::Action;
use super::hidden_handlers::{hidden, is_hidden};
use super::machine;
use super::signal::{
    SA_NODEFER, SA_RESETHAND, SA_RESTART, SA_RESTORER, SA_SIGINFO, SAMPLING_SIGNAL, SIG_DFL, SIG_IGN, SignalAction,
    is_caught_at, set_action, set_blocked_signals, with_signal,
};

use crate::state::Inherited;

/// The handler, or a number with a special meaning; the flags; and the mask.
static HANDLER: Inherited<AtomicUsize> =
    Inherited::new("the child inherits the program's handler", AtomicUsize::new(SIG_DFL));
static FLAGS: Inherited<AtomicUsize> = Inherited::new("the child inherits the program's handler", AtomicUsize::new(0));
static MASK: Inherited<AtomicU64> = Inherited::new("the child inherits the program's handler", AtomicU64::new(0));

/// KILL and STOP, which the kernel removes from the mask of an action.
const NEVER_BLOCKED: u64 = 1 << 8 | 1 << 18;

/// Whether the runtime and the program share the signal: it is the sampling signal, for which the runtime has a
/// handler.
pub(crate) fn is_shared(signal: c_int) -> bool {
    signal == SAMPLING_SIGNAL && hidden(signal) != 0
}

/// Whether the kernel has the runtime's handler.
pub(crate) fn is_runtimes_handler_in_place() -> bool {
    is_caught_at(SAMPLING_SIGNAL, |handler| is_hidden(SAMPLING_SIGNAL, handler))
}

/// The action that the program has set: the handler, the flags, and the mask.
pub(crate) fn programs_action() -> (usize, u32, u64) {
    (HANDLER.load(SeqCst), FLAGS.load(SeqCst) as u32, MASK.load(SeqCst))
}

/// Sets the program's action. The kernel gets the flags that decide where the handler runs and whether system calls are
/// restarted.
pub(crate) fn set_programs_action(action: &Action) -> Result<(), Errno> {
    let flags = action.flags as usize;
    let has_handler = action.handler != SIG_DFL && action.handler != SIG_IGN;
    let kept = if has_handler { flags & (SA_RESTART | SA_ONSTACK) } else { SA_RESTART | SA_ONSTACK };
    FLAGS.store(flags | SA_RESTORER, SeqCst);
    MASK.store(action.mask[0] & !NEVER_BLOCKED, SeqCst);
    HANDLER.store(action.handler, SeqCst);
    put(hidden(SAMPLING_SIGNAL), SA_SIGINFO | kept & (alternate_stack() | !SA_ONSTACK), u64::MAX)
}

/// Gives the kernel an action.
#[inline(never)]
fn put(handler: usize, flags: usize, mask: u64) -> Result<(), Errno> {
    let restorer = machine::signal_return as *const () as usize;
    let action = SignalAction { handler, flags: flags | SA_RESTORER, restorer, mask };
    // SAFETY: the runtime's handler, or the program's.
    unsafe { set_action(SAMPLING_SIGNAL, &raw const action, ptr::null_mut()) }
}

/// Gives the kernel the action that the program has set, after the runtime's handler was removed.
pub(crate) fn leave_to_program() {
    if is_programs() {
        let _ = put(HANDLER.load(SeqCst), FLAGS.load(SeqCst), MASK.load(SeqCst));
    }
}

/// Whether the program has set a handler for the signal or ignores the signal.
pub(crate) fn is_programs() -> bool {
    HANDLER.load(SeqCst) != SIG_DFL
}

/// Blocks the signals that the kernel would block for the program's handler. Call this in the runtime's handler before
/// that jumps to the program's handler. The result is the address of the program's handler; 0 if the program ignores
/// the signal.
///
/// # Safety
///
/// `context` must be the third argument of a handler.
pub(crate) unsafe fn programs_handler(context: *mut c_void) -> usize {
    let (handler, flags) = (HANDLER.load(SeqCst), FLAGS.load(SeqCst));
    if handler == SIG_DFL || handler == SIG_IGN {
        return 0;
    }
    if flags & SA_RESETHAND != 0 {
        HANDLER.store(SIG_DFL, SeqCst);
    }
    // SAFETY: the caller's promise.
    let before = unsafe { *machine::blocked_on_return(context) };
    let blocked = before | MASK.load(SeqCst);
    set_blocked_signals(if flags & SA_NODEFER != 0 { blocked } else { with_signal(blocked, SAMPLING_SIGNAL) });
    handler
}
