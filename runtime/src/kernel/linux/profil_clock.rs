//! The ticks of `profil` in the dialects of other systems: a timer over the CPU time of all threads, by which every thread is counted, without a hook in any.
//!
//! The process's POSIX timer sends a signal of our own, which comes to the thread that runs. On a system from before Linux
//! 6.4 it would come to the main thread, whoever ran: once there is a second thread, `ITIMER_PROF` and SIGPROF take over
//! there. Those are not gone at exec, and a program that is executed meanwhile would be killed; so they are the second
//! choice.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering::SeqCst};

use crate::os::{
    Errno, Handler, NextHandler, PROFIL_SIGNAL, SIGPROF, SignalInfo, Timer, catch_signal, interval_timer, is_caught_by,
    set_interval_timer, system_release, threads_number,
};

/// The nanoseconds of CPU time between two ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(i64);

/// So many ticks a second.
pub const HUNDRED: Rate = Rate(1_000_000_000 / 100);
pub const SIXTY: Rate = Rate(1_000_000_000 / 60);
/// The nanoseconds of the unit in which `ITIMER_PROF` counts.
const MICROSECOND: i64 = 1000;

/// Of the ticks that come, 0 while there are none; [`UNWANTED`] is added for the last one of the timer.
static RATE: AtomicI64 = AtomicI64::new(0);
const UNWANTED: i64 = 1 << 40;
/// The timer, once it is made; its ticks carry the address of this word.
static TIMER: AtomicI32 = AtomicI32::new(NO_TIMER);
const NO_TIMER: i32 = -1;
/// Whether timers of a process tick in the main thread only.
static OLD_KERNEL: AtomicBool = AtomicBool::new(false);
/// Whether `ITIMER_PROF` is in use, and what it was set to before, for somebody else.
static INTERVAL: AtomicBool = AtomicBool::new(false);
static OTHERS: AtomicI64 = AtomicI64::new(0);
/// Who handled SIGPROF before.
static NEXT: NextHandler = NextHandler::none();

fn mark() -> usize {
    TIMER.as_ptr().addr()
}

/// Has `handler` told of ticks.
pub fn listen(handler: Handler) -> Result<(), Errno> {
    if is_caught_by(PROFIL_SIGNAL, handler) { Ok(()) } else { catch_signal(PROFIL_SIGNAL, handler) }
}

/// Has the timer go on that was to end with its next tick. Called before handlers of the time before are waited for, of
/// which one may be about to end it; and after that, [`run`].
pub fn go_on() {
    let _ = RATE.fetch_update(SeqCst, SeqCst, |rate| (rate > UNWANTED).then_some(rate - UNWANTED));
}

/// Sees to it that ticks come, to `handler`. Those that already do go on as they were: a program that asks more often than
/// they come gets them all the same.
///
/// # Errors
///
/// What the system says to `ITIMER_PROF`, when there was no timer of the other kind either.
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

/// Lets no more ticks come, but for one of the timer, which ends it: a program that turns its profile off and on more often
/// than there are ticks gets them too. `ITIMER_PROF` may be wanted by others.
pub fn stop_soon() {
    if INTERVAL.load(SeqCst) {
        stop();
    } else {
        let _ = RATE.fetch_update(SeqCst, SeqCst, |rate| (0 < rate && rate < UNWANTED).then_some(rate + UNWANTED));
    }
}

/// Lets no more ticks come. Async-signal-safe.
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

/// How many ticks a signal stands for; 0 for one that is none. What the process sends itself counts as well.
pub fn ticks(signal: c_int, info: &SignalInfo) -> u32 {
    let is_tick = match info.timer_value() {
        Some(value) => value == mark(),
        None if signal == SIGPROF => info.is_from_kernel() && INTERVAL.load(SeqCst),
        None => true,
    };
    if is_tick { info.expiries() } else { 0 }
}

/// What the handler does at a tick, before it forgets the profile: ends the timer if nobody wants it any more; and where the
/// main thread would get the ticks of all, changes to the other one. Async-signal-safe.
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

/// Hands a SIGPROF to the handler that was there before, unless it is ours alone. One of ours that comes late is that as
/// well: nobody has the interval timer run then.
///
/// # Safety
///
/// In a handler, with what that got.
pub unsafe fn pass_on(signal: c_int, info: *const SignalInfo, context: *const c_void) {
    if signal != SIGPROF {
        return;
    }
    // SAFETY: the caller's promise.
    let told = unsafe { &*info };
    let of_others = if INTERVAL.load(SeqCst) { OTHERS.load(SeqCst) } else { interval_timer() };
    let is_ours = told.is_from_kernel() && of_others == 0;
    if !is_ours && !told.comes_back() {
        // SAFETY: the caller's promise; the next one was SIGPROF's handler when ours was put before it. A program that takes
        // code away must first take the handlers in it away.
        unsafe { NEXT.call(signal, info, context) };
    }
}

/// The child of a fork has no timers.
pub fn after_fork_in_child() {
    RATE.store(0, SeqCst);
    TIMER.store(NO_TIMER, SeqCst);
    INTERVAL.store(false, SeqCst);
}
