//! What the handler of the sampling signal does besides sampling: requests of other processes, by a function of the
//! runtime.

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

/// Says that a tick has come.
#[allow(dead_code, reason = "not all systems take requests")]
#[inline(always)]
pub(crate) fn tick() {
    if IS_LIMITED.load(Relaxed) {
        call(Reason::Tick);
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
