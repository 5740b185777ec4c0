//! The process's one timer of CPU time, used if threads have no timers of their own.
//!
//! The timer is a POSIX timer if its signal goes to the thread that runs (Linux 6.4 and later): such a timer ends
//! when the process executes another program, counts signals that could not be sent, and leaves the program's
//! interval timer alone. On older kernels, the timer is that interval timer, `ITIMER_PROF`, with SIGPROF.

use core::sync::atomic::{
    AtomicBool, AtomicI32,
    Ordering::{Relaxed, SeqCst},
};

use super::account;
use super::due;
use super::handler::pass_on_expiry;
use super::mark::{OF_PROCESS, value};
use super::phase::expiries;
use super::rate::period;
use crate::os::{
    Errno, SAMPLING_SIGNAL, SIGPROF, Timer, catch_signal, interval_timer, is_caught_by, is_not_handled, process_time,
    set_interval_timer, system_release,
};
use crate::ownership::PROCESS;
use crate::state::{Inherited, Reset, resets};

/// Values in place of the kernel's number of the timer: no timer, or the interval timer.
const NONE: i32 = -1;
const INTERVAL: i32 = -2;

/// Whether the signal of a POSIX timer goes to the thread that runs, and not to the first thread.
static COMES_TO_WHO_RUNS: Inherited<AtomicBool> = Inherited::new("the same system", AtomicBool::new(false));

resets! {
    /// The kernel's number of the timer, or a negative value that replaces it.
    static TIMER: Reset<AtomicI32, { NONE as i128 }> = Reset::new();
    /// Whether the program uses the interval timer.
    static IS_INTERVAL_TIMER_TAKEN: Reset<AtomicBool> = Reset::new();
}

/// Prepares for later calls, which may be below mcount.
pub(super) fn prepare() {
    COMES_TO_WHO_RUNS.store(system_release() >= (6, 4), Relaxed);
}

/// Starts the timer, and creates the timer if necessary. May be called below mcount.
pub(super) fn start() -> Result<(), Errno> {
    match TIMER.load(SeqCst) {
        NONE => {}
        INTERVAL => return start_interval_timer(),
        timer => return start_timer(Timer(timer)),
    }
    if COMES_TO_WHO_RUNS.load(Relaxed)
        && let Ok(timer) = Timer::for_process(SAMPLING_SIGNAL, value(OF_PROCESS))
    {
        if let Err(other) = TIMER.compare_exchange(NONE, timer.0, SeqCst, SeqCst) {
            timer.delete(); // another thread was quicker
            return start_timer(Timer(other));
        }
        return start_timer(timer);
    }
    if !is_not_handled(SIGPROF) {
        return Err(Errno::EBUSY); // the program uses SIGPROF
    }
    catch_signal(SIGPROF, pass_on_expiry)?;
    TIMER.store(INTERVAL, SeqCst);
    start_interval_timer()
}

/// Starts the POSIX timer.
fn start_timer(timer: Timer) -> Result<(), Errno> {
    due::start_timer(timer, &account::OF_PROCESS, process_time(), expiries(PROCESS.load(Relaxed)).first)
}

/// Counts the ticks of the POSIX timer that are due and that the kernel has not noticed yet. `is_last` says that no
/// more ticks come.
pub(super) fn settle(is_last: bool) {
    if TIMER.load(SeqCst) >= 0
        && let Some(now) = process_time()
    {
        due::settle(&account::OF_PROCESS, now, true, is_last);
    }
}

/// Starts the interval timer, if the program does not use it.
fn start_interval_timer() -> Result<(), Errno> {
    if ![0, microseconds()].contains(&interval_timer()) {
        IS_INTERVAL_TIMER_TAKEN.store(true, SeqCst);
        return Ok(());
    }
    set_interval_timer(microseconds())
}

/// The period of the interval timer, in microseconds.
fn microseconds() -> i64 {
    period() / 1000
}

/// Stops the timer.
pub(super) fn stop() {
    match TIMER.load(SeqCst) {
        NONE => {}
        INTERVAL => match interval_timer() {
            0 => {}
            found if found == microseconds() => {
                let _ = set_interval_timer(0);
            }
            _ => IS_INTERVAL_TIMER_TAKEN.store(true, SeqCst), // the program has set it meanwhile
        },
        timer => {
            let _ = Timer(timer).set(0, 0);
            if let Some(now) = process_time() {
                account::OF_PROCESS.stop(now);
            }
        }
    }
}

/// Whether the program uses the interval timer or its signal.
pub(super) fn is_taken() -> bool {
    IS_INTERVAL_TIMER_TAKEN.load(SeqCst) || TIMER.load(SeqCst) == INTERVAL && !is_caught_by(SIGPROF, pass_on_expiry)
}
