//! The process's one timer of CPU time, where threads have none of their own.
//!
//! A POSIX timer where its signal comes to the thread that runs (Linux 6.4 and later): it ends when the process executes
//! another program, it counts what it could not send, and the program's own interval timer is left alone. Elsewhere that
//! interval timer, `ITIMER_PROF`, and SIGPROF.

use core::sync::atomic::{
    AtomicBool, AtomicI32,
    Ordering::{Relaxed, SeqCst},
};

use super::due::Account;
use super::{OF_PROCESS, on_expiry, period, value};
use crate::os::{
    Errno, SAMPLING_SIGNAL, SIGPROF, Timer, catch_signal, interval_timer, is_caught_by, is_not_handled, process_time,
    set_interval_timer, system_release,
};

/// The kernel's number of the timer, or one of the following.
static TIMER: AtomicI32 = AtomicI32::new(NONE);
const NONE: i32 = -1;
const INTERVAL: i32 = -2;

/// The ticks of the POSIX timer.
static ACCOUNT: Account = Account::new();

/// Whether the program was found to use the interval timer.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether the signal of a POSIX timer comes to the thread that runs, and not to the first.
static COMES_TO_WHO_RUNS: AtomicBool = AtomicBool::new(false);

/// Gets ready: what comes later may be below mcount.
pub(super) fn prepare() {
    COMES_TO_WHO_RUNS.store(system_release() >= (6, 4), Relaxed);
}

/// Lets the timer run; there is one afterwards. Below mcount.
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
        return Err(Errno::EBUSY); // the program's own
    }
    catch_signal(SIGPROF, on_expiry)?;
    TIMER.store(INTERVAL, SeqCst);
    start_interval_timer()
}

/// Lets the POSIX timer run.
fn start_timer(timer: Timer) -> Result<(), Errno> {
    super::start_timer(timer, &ACCOUNT, process_time(), period())
}

/// The ticks to be counted at `pc` when the POSIX timer has expired so often.
pub(super) fn notice(expiries: u32, pc: usize) -> u32 {
    ACCOUNT.notice(expiries, pc)
}

/// Counts the ticks of the POSIX timer that are due and that the kernel has not noticed yet, for the last time or not.
pub(super) fn settle(is_last: bool) {
    if TIMER.load(SeqCst) >= 0
        && let Some(now) = process_time()
    {
        super::settle(&ACCOUNT, now, true, is_last);
    }
}

/// Lets the interval timer run, if the program does not use it.
fn start_interval_timer() -> Result<(), Errno> {
    if ![0, microseconds()].contains(&interval_timer()) {
        TAKEN.store(true, SeqCst);
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
    match TIMER.load(SeqCst) {
        NONE => {}
        INTERVAL => match interval_timer() {
            0 => {}
            found if found == microseconds() => {
                let _ = set_interval_timer(0);
            }
            _ => TAKEN.store(true, SeqCst), // the program has set it meanwhile
        },
        timer => {
            let _ = Timer(timer).set(0, 0);
            if let Some(now) = process_time() {
                ACCOUNT.stop(now);
            }
        }
    }
}

/// There is none in the child of a fork.
pub(super) fn after_fork_in_child() {
    TIMER.store(NONE, SeqCst);
    ACCOUNT.reset();
    TAKEN.store(false, SeqCst);
}

/// Whether the program has taken the timer for itself, or its signal.
pub(super) fn is_taken() -> bool {
    TAKEN.load(SeqCst) || TIMER.load(SeqCst) == INTERVAL && !is_caught_by(SIGPROF, on_expiry)
}
