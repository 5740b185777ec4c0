//! Produces ticks for the `profil` dialects of other systems with the process's CPU-time interval timer, `ITIMER_PROF`.
//!
//! The functions fail with EBUSY if the program itself uses the timer or SIGPROF. The timer keeps running across
//! `execve`, and SIGPROF kills the new program unless the profile is stopped before. For the same reason the child of a
//! `fork` gets no ticks until the child itself starts a profile: most children execute another program.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicI64, Ordering::SeqCst};

use crate::os::{
    Errno, Handler, SIGPROF, SignalInfo, catch_signal, interval_timer, is_caught_by, is_not_handled, process_id,
    revive_interval_timer, set_interval_timer,
};
use crate::state::{Inherited, Reset, resets};

/// The microseconds of CPU time between two ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(i64);

/// 100 ticks per second.
pub const HUNDRED: Rate = Rate(1_000_000 / 100);
/// 60 ticks per second.
pub const SIXTY: Rate = Rate(1_000_000 / 60);

resets! {
    /// The period of the running timer in microseconds; 0 while the timer is stopped. [`stop_soon`] adds [`UNWANTED`]:
    /// the next tick then stops the timer.
    static RATE: Reset<AtomicI64> = Reset::new();
}

const UNWANTED: i64 = 1 << 40;
/// The process that started the timer. libc tells nobody of a `fork` in a program without libthr, so a child finds the
/// parent's process ID here.
static PROCESS: Inherited<AtomicI32> =
    Inherited::new("tells a child that the timer is its parent's", AtomicI32::new(0));

/// Whether the child of a fork has ticks without a call of its own.
pub const CONTINUES_IN_CHILD: bool = false;

/// Forgets the timer in a child of the process that started the timer: children inherit no timers.
fn forget_parents_timer() {
    if RATE.load(SeqCst) != 0 && PROCESS.load(SeqCst) != process_id() {
        after_fork_in_child();
    }
}

/// Installs `handler` for SIGPROF.
///
/// # Errors
///
/// EBUSY if the program handles SIGPROF; otherwise the error of sigaction(2).
pub fn listen(handler: Handler) -> Result<(), Errno> {
    if is_caught_by(SIGPROF, handler) {
        return Ok(());
    }
    if is_not_handled(SIGPROF) { catch_signal(SIGPROF, handler) } else { Err(Errno::EBUSY) }
}

/// Keeps the timer running if [`stop_soon`] asked the next tick to stop the timer.
pub fn go_on() {
    forget_parents_timer();
    let _ = RATE.fetch_update(SeqCst, SeqCst, |rate| (rate > UNWANTED).then_some(rate - UNWANTED));
}

/// Starts the timer. Does nothing if the timer already runs at this rate.
///
/// # Errors
///
/// EBUSY if the program uses `ITIMER_PROF`; otherwise the error of setitimer(2).
pub fn run(rate: Rate, _handler: Handler) -> Result<(), Errno> {
    forget_parents_timer();
    if RATE.load(SeqCst) == rate.0 {
        return Ok(());
    }
    if RATE.load(SeqCst) == 0 && interval_timer() != 0 {
        return Err(Errno::EBUSY);
    }
    set_interval_timer(rate.0)?;
    PROCESS.store(process_id(), SeqCst);
    RATE.store(rate.0, SeqCst);
    Ok(())
}

/// Makes the next tick stop the timer. The timer is not stopped at once, so a program that turns its profile off and on
/// more often than the timer expires still gets ticks.
pub fn stop_soon() {
    forget_parents_timer();
    let _ = RATE.fetch_update(SeqCst, SeqCst, |rate| (0 < rate && rate < UNWANTED).then_some(rate + UNWANTED));
}

/// Stops the timer. Async-signal-safe.
pub fn stop() {
    forget_parents_timer();
    if RATE.swap(0, SeqCst) != 0 {
        let _ = set_interval_timer(0);
    }
}

/// Returns the number of ticks that a signal reports.
pub fn ticks(_signal: c_int, _info: &SignalInfo) -> u32 {
    1
}

/// Stops the timer if [`stop_soon`] was called; otherwise keeps the timer running. The handler calls this function at
/// each tick. Async-signal-safe.
pub fn at_tick(_handler: Handler) {
    let rate = RATE.load(SeqCst);
    if rate < UNWANTED {
        revive_interval_timer(rate);
    } else if RATE.compare_exchange(rate, 0, SeqCst, SeqCst).is_ok() {
        let _ = set_interval_timer(0);
    }
}

/// Calls the previous handler of the signal. Does nothing: there is no previous handler, see [`listen`].
///
/// # Safety
///
/// Must be called in a signal handler, with the arguments of the handler.
pub unsafe fn pass_on(_signal: c_int, _info: *const SignalInfo, _context: *const c_void) {}

/// Records in the child of a `fork` that the timer is stopped.
pub fn after_fork_in_child() {
    reset_statics();
}
