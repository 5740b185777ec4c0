//! Produces ticks: samples the program counter at a fixed rate of CPU time. [`bins`](crate::samples::bins) counts the
//! ticks.
//!
//! By default, the kernel samples at the rate of its profiling clock ([`counters`]). If the user sets another rate, the
//! process's interval timer samples ([`interval`]).

#[path = "../../bsd/choice.rs"]
mod choice;
mod counters;
#[path = "../../bsd/differences.rs"]
mod differences;
#[path = "../../bsd/interval.rs"]
pub(super) mod interval;
#[path = "../../bsd/rate.rs"]
mod rate;
mod reader;

pub(crate) use choice::{HIGHEST_RATE, Sampler, Wish};
#[cfg(not(test))]
pub(crate) use choice::{RATE_OTHERWISE, SAMPLER_NAMES};
pub(crate) use rate::profrate;

use crate::os::{Errno, SignalSet};
use crate::samples::bins;
use choice::is_itimer;

/// The per-thread state of the sampler. Empty, because both samplers sample all threads.
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn reset(&self) {}
    pub(crate) fn attach(&self, _thread: i32, _blocked: SignalSet) {}
    pub(crate) fn run(&self, _on: bool) {}
    pub(crate) fn settle(&self, _is_last: bool) {}
}

/// Chooses the sampler and the rate, and prints a message if the user's request is not possible.
pub(crate) fn choose(wish: &Wish) {
    choice::choose(wish, b"FreeBSD");
}

/// Starts sampling.
pub(crate) fn start() -> Result<(), Errno> {
    if is_itimer() {
        return interval::start(profrate());
    }
    counters::start()?;
    reader::start();
    Ok(())
}

/// Stops sampling. The caller calls [`collect`] first.
pub(crate) fn stop() {
    if is_itimer() {
        interval::stop(profrate());
    } else {
        counters::stop();
    }
}

/// Adds the ticks since the last reading of the kernel's counters to the bins.
pub(crate) fn collect() {
    counters::collect();
}

/// Adds the last ticks to the bins after sampling has stopped, and ends the thread that reads the counters.
pub(crate) fn settle_for_good() {
    counters::collect();
    reader::end();
}

/// Does nothing: the kernel stores no samples with stacks.
pub(crate) fn count_stored() {}

/// Discards the ticks since the last reading of the kernel's counters.
pub(crate) fn discard() {
    counters::discard();
}

/// Prints a message if samples are missing.
pub(crate) fn report() {
    reader::report();
    interval::report();
}

/// Restarts sampling in the child of a `fork`. The kernel continues to sample the child into the child's copy of the
/// counters, but the child has no thread that reads the counters, and no interval timer.
pub(crate) fn after_fork_in_child() {
    counters::forget();
    reader::after_fork_in_child();
    if !bins::is_counting() {
        return;
    }
    if is_itimer() {
        interval::after_fork_in_child(profrate());
    } else {
        let _ = start();
    }
}

/// Stops the interval timer before `execve`, because the timer would keep running in the new program. Returns whether
/// the timer ran.
pub(crate) fn stop_before_exec() -> bool {
    let runs = is_itimer() && interval::runs(profrate());
    if runs {
        interval::stop(profrate());
        interval::discard_pending();
    }
    runs
}

/// Returns the set that the kernel must block when the program blocks `signals`. On FreeBSD the sets are equal.
pub(crate) fn to_be_blocked(signals: SignalSet) -> SignalSet {
    signals
}
