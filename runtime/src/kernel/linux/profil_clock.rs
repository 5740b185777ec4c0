//! The ticks of `profil` for the dialects of other systems: a timer over the CPU time of all threads, which needs no
//! hook in any thread.
//!
//! The process's POSIX timer sends a signal of this module to the thread that runs. Before Linux 6.4 the signal goes
//! to the main thread, whichever thread runs: with a second thread, `ITIMER_PROF` and SIGPROF replace the timer
//! there. They are the second choice because they survive an exec and would kill the executed program.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering::SeqCst};

use crate::os::{
    Errno, Handler, NextHandler, PROFIL_SIGNAL, SIGPROF, SignalInfo, Timer, catch_signal, interval_timer, is_caught_by,
    set_interval_timer, system_release, threads_number,
};
use crate::state::{Inherited, Reset, resets};

/// The nanoseconds of CPU time between two ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(i64);

/// 100 and 60 ticks per second.
pub const HUNDRED: Rate = Rate(1_000_000_000 / 100);
pub const SIXTY: Rate = Rate(1_000_000_000 / 60);
/// Whether the child of a fork has ticks without a call of its own.
pub const CONTINUES_IN_CHILD: bool = true;
/// The unit of `ITIMER_PROF` in nanoseconds.
const MICROSECOND: i64 = 1000;

resets! {
    /// The rate of the ticks, 0 while there are none; plus [`UNWANTED`] if the timer ends with its next tick.
    static RATE: Reset<AtomicI64> = Reset::new();
    /// The timer, once it was created; its ticks carry the address of this word.
    static TIMER: Reset<AtomicI32, { NO_TIMER as i128 }> = Reset::new();
    /// Whether `ITIMER_PROF` is in use.
    static INTERVAL: Reset<AtomicBool> = Reset::new();
}

const UNWANTED: i64 = 1 << 40;
const NO_TIMER: i32 = -1;
/// Whether the signals of a process's timer go only to the main thread.
static OLD_KERNEL: Inherited<AtomicBool> = Inherited::new("the child has the same kernel", AtomicBool::new(false));
/// The previous period of `ITIMER_PROF`, which another user may have set.
static OTHERS: Inherited<AtomicI64> =
    Inherited::new("says something only while `ITIMER_PROF` is in use", AtomicI64::new(0));
/// The previous handler of SIGPROF.
static NEXT: Inherited<NextHandler> = Inherited::new("the child inherits the handlers", NextHandler::none());

fn mark() -> usize {
    TIMER.as_ptr().addr()
}

/// Installs `handler` for the ticks.
pub fn listen(handler: Handler) -> Result<(), Errno> {
    if is_caught_by(PROFIL_SIGNAL, handler) { Ok(()) } else { catch_signal(PROFIL_SIGNAL, handler) }
}

/// Keeps the timer running that was to end with its next tick. Call this before waiting for earlier handlers, one of
/// which may be about to end the timer, and call [`run`] afterwards.
pub fn go_on() {
    let _ = RATE.fetch_update(SeqCst, SeqCst, |rate| (rate > UNWANTED).then_some(rate - UNWANTED));
}

/// Makes ticks come to `handler`. Ticks that already come continue without a change, so a program that calls this
/// more often than there are ticks still gets all of them.
///
/// # Errors
///
/// The error of `ITIMER_PROF`, if the other timer failed too.
pub fn run(rate: Rate, handler: Handler) -> Result<(), Errno> {
    if RATE.load(SeqCst) == rate.0 {
        return Ok(());
    }
    OLD_KERNEL.store(system_release() < (6, 4), SeqCst);
    let may_have_timer = !OLD_KERNEL.load(SeqCst) || threads_number() == Some(1);
    let has_timer = may_have_timer && !INTERVAL.load(SeqCst) && run_timer(rate).is_ok();
    if !has_timer {
        run_interval_timer(rate, handler)?;
    }
    RATE.store(rate.0, SeqCst);
    Ok(())
}

fn run_timer(rate: Rate) -> Result<(), Errno> {
    if TIMER.load(SeqCst) == NO_TIMER {
        TIMER.store(Timer::for_process(PROFIL_SIGNAL, mark())?.0, SeqCst);
    }
    set_timer(rate.0)
}

fn set_timer(nanoseconds: i64) -> Result<(), Errno> {
    Timer(TIMER.load(SeqCst)).set(nanoseconds, nanoseconds)
}

fn run_interval_timer(rate: Rate, handler: Handler) -> Result<(), Errno> {
    NEXT.precede_with(handler)?;
    if !INTERVAL.swap(true, SeqCst) {
        OTHERS.store(interval_timer(), SeqCst);
    }
    set_interval_timer(rate.0 / MICROSECOND)
}

/// Stops the ticks after one more tick, which ends the timer: a program that turns its profile off and on more often
/// than there are ticks still gets them. `ITIMER_PROF` stops at once, because others may want it.
pub fn stop_soon() {
    if INTERVAL.load(SeqCst) {
        stop();
    } else {
        let _ = RATE.fetch_update(SeqCst, SeqCst, |rate| (0 < rate && rate < UNWANTED).then_some(rate + UNWANTED));
    }
}

/// Stops the ticks. Async-signal-safe.
pub fn stop() {
    if RATE.swap(0, SeqCst) == 0 {
        return;
    }
    if TIMER.load(SeqCst) != NO_TIMER {
        let _ = set_timer(0);
    }
    give_interval_timer_back();
}

fn give_interval_timer_back() {
    if INTERVAL.swap(false, SeqCst) {
        let _ = set_interval_timer(OTHERS.load(SeqCst));
    }
}

/// The number of ticks that a signal stands for; 0 for another signal. A signal that the process sends to itself
/// counts.
pub fn ticks(signal: c_int, info: &SignalInfo) -> u32 {
    let is_tick = match info.timer_value() {
        Some(value) => value == mark(),
        None if signal == SIGPROF => info.is_from_kernel() && INTERVAL.load(SeqCst),
        None => true,
    };
    if is_tick { info.expiries() } else { 0 }
}

/// Called by the handler at each tick: ends the timer if nobody wants it any more, and changes to `ITIMER_PROF` if
/// the main thread would get all ticks. Async-signal-safe.
pub fn at_tick(handler: Handler) {
    let rate = RATE.load(SeqCst);
    if rate > UNWANTED {
        if RATE.compare_exchange(rate, 0, SeqCst, SeqCst).is_ok() {
            let _ = set_timer(0);
        }
    } else if rate != 0 && OLD_KERNEL.load(SeqCst) && !INTERVAL.load(SeqCst) && threads_number() != Some(1) {
        if run_interval_timer(Rate(rate), handler).is_ok() {
            let _ = set_timer(0);
        }
        if RATE.load(SeqCst) == 0 {
            give_interval_timer_back(); // stopped meanwhile
        }
    }
}

/// Passes a SIGPROF to the previous handler, unless the signal is only for this module. A late signal of this module
/// is not passed on: nobody runs the interval timer then.
///
/// # Safety
///
/// Call this only in a handler, with its arguments.
pub unsafe fn pass_on(signal: c_int, info: *const SignalInfo, context: *const c_void) {
    if signal != SIGPROF {
        return;
    }
    // SAFETY: the caller's promise.
    let told = unsafe { &*info };
    let of_others = if INTERVAL.load(SeqCst) { OTHERS.load(SeqCst) } else { interval_timer() };
    let is_ours = told.is_from_kernel() && of_others == 0;
    if !is_ours && !told.comes_back() {
        // SAFETY: the caller's promise; the previous handler was SIGPROF's when this module's was installed. A
        // program that unloads code must first remove its handlers.
        unsafe { NEXT.call(signal, info, context) };
    }
}

/// Resets the child of a fork, which has no timers.
pub fn after_fork_in_child() {
    reset_statics();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::is_alone;
    use crate::state::check_reset;

    #[test]
    fn a_child_resets_every_static_of_the_clock() {
        if is_alone("kernel::system::profil_clock::tests::a_child_resets_every_static_of_the_clock") {
            check_reset(each_static, after_fork_in_child);
        }
    }
}
