//! What the handler of the sampling signal does besides sampling: functions of the runtime get requests of other
//! processes, and ticks.

use core::mem;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr,
    Ordering::{Relaxed, SeqCst},
};

use crate::state::Inherited;

/// Why the handler calls the function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Another process has sent the signal.
    Signal,
    /// A tick, while something is switched on for a limited time.
    Tick,
}

/// The function. The result is whether there was a request.
type Listener = fn(Reason) -> bool;

static LISTENER: Inherited<AtomicPtr<()>> =
    Inherited::new("the child has the same code", AtomicPtr::new(ptr::null_mut()));
/// Whether something is switched on for a limited time.
static IS_LIMITED: Inherited<AtomicBool> =
    Inherited::new("the child switches off what its parent has switched on", AtomicBool::new(false));

/// A function that gets the interrupted instruction, and the number of ticks for which the signal stands.
type Counter = fn(usize, u32);

static COUNTER: Inherited<AtomicPtr<()>> =
    Inherited::new("the child has the same code", AtomicPtr::new(ptr::null_mut()));

/// Lets a function count ticks from now on.
#[allow(dead_code, reason = "not all systems change code at ticks")]
pub(crate) fn count_ticks(counter: Counter) {
    COUNTER.store(counter as *mut (), SeqCst);
}

/// Lets a function answer requests from now on.
#[allow(dead_code, reason = "not all systems take requests")]
pub(crate) fn listen(listener: Listener) {
    LISTENER.store(listener as *mut (), SeqCst);
}

/// Sets whether something is switched on for a limited time.
#[allow(dead_code, reason = "not all systems take requests")]
pub(crate) fn set_limited(is_limited: bool) {
    IS_LIMITED.store(is_limited, SeqCst);
}

/// Says that another process has sent the signal. The result is whether that was a request.
#[allow(dead_code, reason = "not all systems take requests")]
pub(crate) fn hear() -> bool {
    call(Reason::Signal)
}

/// Says that ticks have come at an instruction.
#[allow(dead_code, reason = "not all systems take requests")]
#[inline(always)]
pub(crate) fn tick(pc: usize, ticks: u32) {
    if IS_LIMITED.load(Relaxed) {
        call(Reason::Tick);
    }
    let counter = COUNTER.load(Relaxed);
    if !counter.is_null() {
        // SAFETY: a function of that type, from `count_ticks`.
        let counter = unsafe { mem::transmute::<*mut (), Counter>(counter) };
        counter(pc, ticks);
    }
}

#[inline(never)]
fn call(reason: Reason) -> bool {
    let listener = LISTENER.load(SeqCst);
    if listener.is_null() {
        return false;
    }
    // SAFETY: a function of that type, from `listen`.
    let listener = unsafe { mem::transmute::<*mut (), Listener>(listener) };
    listener(reason)
}
