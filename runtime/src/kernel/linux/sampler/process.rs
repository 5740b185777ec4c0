//! The process's one timer of CPU time, where threads have none of their own.
//!
//! A POSIX timer where its signal comes to the thread that runs (Linux 6.4 and later): it ends when the process executes
//! another program, it counts what it could not send, and the program's own interval timer is left alone. Elsewhere that
//! interval timer, `ITIMER_PROF`, and SIGPROF.

use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};

use super::due;
use super::handler::on_expiry;
use super::mark::{OF_PROCESS, value};
use super::rate::period;
use crate::os::{
    Errno, SAMPLING_SIGNAL, SIGPROF, Timer, catch_signal, interval_timer, is_caught_by, is_not_handled, process_time,
    set_interval_timer, system_release,
};
use crate::per_process::{NO_TIMER, PER_PROCESS};

/// What stands for the kernel's number of the timer: there is none, or it is the interval timer.
const NONE: i32 = NO_TIMER;
const INTERVAL: i32 = -2;

/// Whether the signal of a POSIX timer comes to the thread that runs, and not to the first.
static COMES_TO_WHO_RUNS: AtomicBool = AtomicBool::new(false);

/// Gets ready: what comes later may be below mcount.
pub(super) fn prepare() {
    COMES_TO_WHO_RUNS.store(system_release() >= (6, 4), Relaxed);
}

/// Lets the timer run; there is one afterwards. Below mcount.
pub(super) fn start() -> Result<(), Errno> {
    match PER_PROCESS.process_timer.load(SeqCst) {
        NONE => {}
        INTERVAL => return start_interval_timer(),
        timer => return start_timer(Timer(timer)),
    }
    if COMES_TO_WHO_RUNS.load(Relaxed)
        && let Ok(timer) = Timer::for_process(SAMPLING_SIGNAL, value(OF_PROCESS))
    {
        if let Err(other) = PER_PROCESS.process_timer.compare_exchange(NONE, timer.0, SeqCst, SeqCst) {
            timer.delete(); // another thread was quicker
            return start_timer(Timer(other));
        }
        return start_timer(timer);
    }
    if !is_not_handled(SIGPROF) {
        return Err(Errno::EBUSY); // the program's own
    }
    catch_signal(SIGPROF, on_expiry)?;
    PER_PROCESS.process_timer.store(INTERVAL, SeqCst);
    start_interval_timer()
}

/// Lets the POSIX timer run.
fn start_timer(timer: Timer) -> Result<(), Errno> {
    due::start_timer(timer, &PER_PROCESS.process_account, process_time(), period())
}

/// Counts the ticks of the POSIX timer that are due and that the kernel has not noticed yet, for the last time or not.
pub(super) fn settle(is_last: bool) {
    if PER_PROCESS.process_timer.load(SeqCst) >= 0
        && let Some(now) = process_time()
    {
        due::settle(&PER_PROCESS.process_account, now, true, is_last);
    }
}

/// Lets the interval timer run, if the program does not use it.
fn start_interval_timer() -> Result<(), Errno> {
    if ![0, microseconds()].contains(&interval_timer()) {
        PER_PROCESS.is_interval_timer_taken.store(true, SeqCst);
        return Ok(());
    }
    set_interval_timer(microseconds())
}

/// The period of the interval timer.
fn microseconds() -> i64 {
    period() / 1000
}

/// Lets it stand still.
pub(super) fn stop() {
    match PER_PROCESS.process_timer.load(SeqCst) {
        NONE => {}
        INTERVAL => match interval_timer() {
            0 => {}
            found if found == microseconds() => {
                let _ = set_interval_timer(0);
            }
            _ => PER_PROCESS.is_interval_timer_taken.store(true, SeqCst), // the program has set it meanwhile
        },
        timer => {
            let _ = Timer(timer).set(0, 0);
            if let Some(now) = process_time() {
                PER_PROCESS.process_account.stop(now);
            }
        }
    }
}

/// Whether the program has taken the timer for itself, or its signal.
pub(super) fn is_taken() -> bool {
    PER_PROCESS.is_interval_timer_taken.load(SeqCst)
        || PER_PROCESS.process_timer.load(SeqCst) == INTERVAL && !is_caught_by(SIGPROF, on_expiry)
}
