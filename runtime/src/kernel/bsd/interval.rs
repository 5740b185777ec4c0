//! The process's CPU-time interval timer, `ITIMER_PROF`. The kernel posts SIGPROF to the running thread.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::rate::profrate;
use crate::message::say;
use crate::os::{
    Errno, SIGPROF, SignalInfo, catch_signal, interrupted_pc, interval_timer, is_caught_by, is_not_handled,
    revive_interval_timer, set_interval_timer, take_signal,
};
use crate::samples;
use crate::state::{Inherited, Reset, resets};

/// Set once the handler is installed.
static IS_CAUGHT: Inherited<AtomicBool> = Inherited::new("the child inherits the handler", AtomicBool::new(false));

resets! {
    /// Whether the program uses the timer.
    static IS_TAKEN: Reset<AtomicBool> = Reset::new();
}

fn period(rate: u32) -> i64 {
    1_000_000 / i64::from(rate.max(1))
}

/// Starts the timer, unless the program uses the timer.
pub(super) fn start(rate: u32) -> Result<(), Errno> {
    if !IS_CAUGHT.load(SeqCst) {
        if !is_not_handled(SIGPROF) {
            return Err(Errno::EBUSY); // the program handles the signal
        }
        catch_signal(SIGPROF, on_tick)?;
        IS_CAUGHT.store(true, SeqCst);
    }
    if ![0, period(rate)].contains(&interval_timer()) {
        IS_TAKEN.store(true, SeqCst);
        return Ok(());
    }
    set_interval_timer(period(rate))
}

/// Whether gmon's timer is running.
pub(super) fn runs(rate: u32) -> bool {
    IS_CAUGHT.load(SeqCst) && interval_timer() == period(rate)
}

/// Stops the timer, unless the program has set the timer.
pub(super) fn stop(rate: u32) {
    match interval_timer() {
        0 => {}
        found if found == period(rate) => _ = set_interval_timer(0),
        _ => IS_TAKEN.store(true, SeqCst), // set by the program
    }
}

/// Discards a signal of the stopped timer that this thread blocks: a pending signal stays pending across `execve`.
pub(super) fn discard_pending() {
    take_signal(SIGPROF);
}

/// Starts the timer in the child of a `fork`, which inherits the handler but not the timer. If the program has
/// installed its own handler, the timer stays stopped.
pub(super) fn after_fork_in_child(rate: u32) {
    if is_caught_by(SIGPROF, on_tick) {
        let _ = set_interval_timer(period(rate));
    }
}

unsafe extern "C" fn on_tick(_signal: c_int, _info: *const SignalInfo, context: *const c_void) {
    // SAFETY: the handler was installed with SA_SIGINFO, so the kernel passes a valid context.
    samples::count_without_stack(unsafe { interrupted_pc(context) }, 1);
    revive_interval_timer(period(profrate()));
}

/// Prints a message if the program used the timer or the signal.
pub(super) fn report() {
    let is_taken = IS_TAKEN.load(SeqCst);
    if IS_CAUGHT.load(SeqCst) && (is_taken || !is_caught_by(SIGPROF, on_tick)) {
        say(&[b"samples are missing: the program uses ITIMER_PROF or SIGPROF, which GMON_SAMPLER=itimer needs"]);
    }
}
