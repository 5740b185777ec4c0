//! Walks the stacks of this process, in signal handlers.

use core::ffi::c_void;

use super::Native;
use super::cache::Cache;
use super::chain::{Cut, Ending, Frame, Tables};
use super::objects::{Objects, Published};
use super::pages::Pages;
use super::signal_frame::SignalFrames;
use super::walk::Walk;
use crate::os::{
    CONTEXT_ABOVE_STACK, CONTEXT_PC, CONTEXT_REGISTERS, SIGNAL_TRAMPOLINE, SIGNAL_TRAMPOLINE_CALL, is_readable,
};

/// The number of rules that are remembered. Entries that no walk needs take no memory but the addresses.
const RULES: usize = 4096;

/// The objects of this process.
static PUBLISHED: Published = Published::new();
/// The rules that walks have found.
static CACHE: Cache<RULES> = Cache::new();
/// The signal frames of this system.
static SIGNALS: SignalFrames = SignalFrames {
    trampoline: SIGNAL_TRAMPOLINE,
    last_instruction: SIGNAL_TRAMPOLINE_CALL,
    context: CONTEXT_ABOVE_STACK,
    registers: CONTEXT_REGISTERS,
    program_counter: CONTEXT_PC,
};

/// Walks the stack of the code that a signal interrupted, and passes each frame to `each`, the innermost frame first.
/// `context` is the third argument of the signal's handler.
///
/// If `each` returns false, the walk stops there, and the result is [`Cut::TooDeep`], as for a stack with too many frames.
///
/// Async-signal-safe. The handler must block all signals, because no list of objects is given up while a walk reads it.
pub fn walk(context: *const c_void, mut each: impl FnMut(Frame) -> bool) -> Ending {
    const TOO_DEEP: Ending = Ending::Cut(Cut::TooDeep);
    let reading = PUBLISHED.read();
    let tables = Tables { objects: reading.objects(), cache: &CACHE, signals: &SIGNALS };
    // SAFETY: the stack that this thread was using stays mapped while this thread is here.
    let memory = unsafe { Pages::new(is_readable, 0..0) };
    let mut walk = Walk::<Native, _, _>::new(&tables, &memory, context.expose_provenance());
    for frame in walk.by_ref() {
        if !each(frame) {
            return TOO_DEEP;
        }
    }
    walk.ending().unwrap_or(TOO_DEEP)
}

/// Gives walks another list of objects, or none: see [`Published::replace`].
///
/// # Safety
///
/// As for [`Published::replace`].
pub unsafe fn publish(list: Option<&Objects<'static>>, wait: impl FnMut() -> bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { PUBLISHED.replace(list, wait) }
}

/// Forgets the walks of the parent in the child of a fork.
pub(crate) fn after_fork_in_child() {
    PUBLISHED.reset();
}
