//! Produces ticks: samples the program counter at a fixed rate of CPU time. [`bins`](crate::samples::bins) counts the ticks.
//!
//! By default, the kernel samples at the rate of its profiling clock ([`counters`]). If the user sets another rate, the process's
//! interval timer samples ([`interval`]).

mod counters;
mod interval;
mod rate;
mod reader;

use core::sync::atomic::{AtomicBool, Ordering::SeqCst};

pub(crate) use rate::profrate;

use crate::message::say;
use crate::os::{ClockRates, Errno, SignalSet, clock_rates};
use crate::samples::bins;
use crate::text::Text;
use rate::DEFAULT_RATE;

/// A source of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    /// The kernel, with `profil(2)`.
    Profil,
    /// The process's interval timer, with SIGPROF.
    Itimer,
}

impl Sampler {
    /// Returns the sampler with the name, a value of `GMON_SAMPLER`.
    pub(crate) fn named(name: &[u8]) -> Option<Sampler> {
        match name {
            b"profil" => Some(Sampler::Profil),
            b"itimer" => Some(Sampler::Itimer),
            _ => None,
        }
    }
}

/// The sampler settings that the user requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Samples per second, from 1 to [`HIGHEST_RATE`].
    pub(crate) rate: Option<u32>,
    /// Whether to sample wall-clock time, which no sampler on FreeBSD can do.
    pub(crate) wall: bool,
    pub(crate) sampler: Option<Sampler>,
}

/// The highest number of samples per second that the user may request.
pub(crate) const HIGHEST_RATE: u32 = 10_000;

/// Set if the interval timer samples instead of the kernel.
static IS_ITIMER: AtomicBool = AtomicBool::new(false);

/// The per-thread state of the sampler. Empty on FreeBSD, where the kernel samples all threads.
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn reset(&self) {}
    pub(crate) fn attach(&self, _thread: i32) {}
    pub(crate) fn run(&self, _on: bool) {}
    pub(crate) fn settle(&self, _is_last: bool) {}
}

/// The sampler and the rate to use.
struct Plan {
    is_itimer: bool,
    rate: u32,
}

/// Returns the plan for the user's request and the rates of the kernel's clocks.
fn plan(wish: &Wish, rates: &ClockRates) -> Plan {
    let profiling = u32::try_from(rates.profiling).unwrap_or(0);
    let is_itimer = match wish.sampler {
        Some(sampler) => sampler == Sampler::Itimer,
        None => wish.rate.is_some(),
    };
    if !is_itimer && profiling > 0 {
        return Plan { is_itimer: false, rate: profiling };
    }
    // The kernel checks the interval timer once per tick.
    let highest = u32::try_from(rates.ticks).unwrap_or(0).max(DEFAULT_RATE);
    Plan { is_itimer: true, rate: wish.rate.unwrap_or(DEFAULT_RATE).min(highest) }
}

/// Chooses the sampler and the rate, and prints a message if the user's request is not possible. Must be called at start-up: in
/// capability mode the kernel does not report the rates of its clocks.
pub(crate) fn choose(wish: &Wish) {
    let plan = plan(wish, &clock_rates());
    let mut rate = Text::<10>::new();
    rate.push_decimal(u64::from(plan.rate));
    if wish.wall {
        say(&[b"GMON_CLOCK=wall is not possible on FreeBSD: using cpu"]);
    }
    if plan.is_itimer && wish.sampler == Some(Sampler::Profil) {
        say(&[b"cannot read the rate of profil from kern.clockrate: using GMON_SAMPLER=itimer"]);
    }
    if wish.rate.is_some_and(|wished| wished != plan.rate) {
        let mut wished = Text::<10>::new();
        wished.push_decimal(u64::from(wish.rate.unwrap_or(0)));
        let sampler: &[u8] = if plan.is_itimer { b"itimer" } else { b"profil" };
        let parts: [&[u8]; 5] =
            [b"GMON_HZ=", wished.as_bytes(), b" is not possible with GMON_SAMPLER=", sampler, b": using "];
        let [a, b, c, d, e] = parts;
        say(&[a, b, c, d, e, rate.as_bytes()]);
    }
    rate::set(plan.rate);
    IS_ITIMER.store(plan.is_itimer, SeqCst);
}

/// Starts sampling.
pub(crate) fn start() -> Result<(), Errno> {
    if IS_ITIMER.load(SeqCst) {
        return interval::start(profrate());
    }
    counters::start()?;
    reader::start();
    Ok(())
}

/// Stops sampling. The caller calls [`collect`] first.
pub(crate) fn stop() {
    if IS_ITIMER.load(SeqCst) {
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

/// Discards the ticks since the last reading of the kernel's counters.
pub(crate) fn discard() {
    counters::discard();
}

/// Prints a message if samples are missing.
pub(crate) fn report() {
    reader::report();
    interval::report();
}

/// Restarts sampling in the child of a `fork`. The kernel continues to sample the child into the child's copy of the counters, but the
/// child has no thread that reads the counters, and no interval timer.
pub(crate) fn after_fork_in_child() {
    counters::forget();
    reader::after_fork_in_child();
    if !bins::is_counting() {
        return;
    }
    if IS_ITIMER.load(SeqCst) {
        interval::after_fork_in_child(profrate());
    } else {
        let _ = start();
    }
}

/// Stops the interval timer before `execve`, because the timer would keep running in the new program. Returns whether the timer ran.
pub(crate) fn stop_before_exec() -> bool {
    let runs = IS_ITIMER.load(SeqCst) && interval::runs(profrate());
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
