//! The ticks of `profil` in the dialects of other systems: the process's interval timer of CPU time, `ITIMER_PROF`.
//!
//! The timer and SIGPROF are refused where the program uses them itself. The timer goes on in a program that is executed meanwhile:
//! that is killed by the signal unless the profile is stopped before.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI64, Ordering::SeqCst};

use crate::os::{
    Errno, Handler, SIGPROF, SignalInfo, catch_signal, interval_timer, is_caught_by, is_not_handled, set_interval_timer,
};

/// The microseconds of CPU time between two ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(i64);

/// So many ticks a second.
pub const HUNDRED: Rate = Rate(1_000_000 / 100);
pub const SIXTY: Rate = Rate(1_000_000 / 60);

/// Of the ticks that come, 0 while there are none; [`UNWANTED`] is added for the last one.
static RATE: AtomicI64 = AtomicI64::new(0);
const UNWANTED: i64 = 1 << 40;

/// Has `handler` told of ticks.
///
/// # Errors
///
/// EBUSY if the program handles SIGPROF; what the kernel answers.
pub fn listen(handler: Handler) -> Result<(), Errno> {
    if is_caught_by(SIGPROF, handler) {
        return Ok(());
    }
    if is_not_handled(SIGPROF) { catch_signal(SIGPROF, handler) } else { Err(Errno::EBUSY) }
}

/// Has the timer go on that was to end with its next tick.
pub fn go_on() {
    let _ = RATE.fetch_update(SeqCst, SeqCst, |rate| (rate > UNWANTED).then_some(rate - UNWANTED));
}

/// Sees to it that ticks come. Those that already do go on as they were.
///
/// # Errors
///
/// EBUSY if the program uses `ITIMER_PROF`; what the kernel answers.
pub fn run(rate: Rate, _handler: Handler) -> Result<(), Errno> {
    if RATE.load(SeqCst) == rate.0 {
        return Ok(());
    }
    if RATE.load(SeqCst) == 0 && interval_timer() != 0 {
        return Err(Errno::EBUSY);
    }
    set_interval_timer(rate.0)?;
    RATE.store(rate.0, SeqCst);
    Ok(())
}

/// Lets no more ticks come, but for one, which ends the timer: a program that turns its profile off and on more often
/// than there are ticks gets them too.
pub fn stop_soon() {
    let _ = RATE.fetch_update(SeqCst, SeqCst, |rate| (0 < rate && rate < UNWANTED).then_some(rate + UNWANTED));
}

/// Lets no more ticks come. Async-signal-safe.
pub fn stop() {
    if RATE.swap(0, SeqCst) != 0 {
        let _ = set_interval_timer(0);
    }
}

/// How many ticks a signal stands for.
pub fn ticks(_signal: c_int, _info: &SignalInfo) -> u32 {
    1
}

/// What the handler does at a tick: ends the timer if nobody wants it any more. Async-signal-safe.
pub fn at_tick(_handler: Handler) {
    let rate = RATE.load(SeqCst);
    if rate > UNWANTED && RATE.compare_exchange(rate, 0, SeqCst, SeqCst).is_ok() {
        let _ = set_interval_timer(0);
    }
}

/// Hands a signal to the handler that was there before: there is none, see [`listen`].
///
/// # Safety
///
/// In a handler, with what that got.
pub unsafe fn pass_on(_signal: c_int, _info: *const SignalInfo, _context: *const c_void) {}

/// The child of a fork has no timers.
pub fn after_fork_in_child() {
    RATE.store(0, SeqCst);
}
