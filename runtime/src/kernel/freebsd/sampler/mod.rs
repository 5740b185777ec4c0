//! Produces ticks: says where the program is, so many times in each second of CPU time. [`bins`](crate::samples::bins) counts them.
//!
//! The kernel samples by itself ([`counters`]), at a rate of its own. If the user wishes another rate, the process's interval timer
//! does ([`interval`]).

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

/// What produces samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    /// The kernel, by `profil(2)`.
    Profil,
    /// The process's interval timer, by SIGPROF.
    Itimer,
}

impl Sampler {
    /// The sampler of that name, as `GMON_SAMPLER` has it.
    pub(crate) fn named(name: &[u8]) -> Option<Sampler> {
        match name {
            b"profil" => Some(Sampler::Profil),
            b"itimer" => Some(Sampler::Itimer),
            _ => None,
        }
    }
}

/// What the user wishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Samples each second, from 1 to [`HIGHEST_RATE`].
    pub(crate) rate: Option<u32>,
    /// Whether time passes for threads that sleep: no sampler here can do that.
    pub(crate) wall: bool,
    pub(crate) sampler: Option<Sampler>,
}

/// The most samples each second that may be asked for.
pub(crate) const HIGHEST_RATE: u32 = 10_000;

/// Whether the interval timer samples, and not the kernel.
static IS_ITIMER: AtomicBool = AtomicBool::new(false);

/// What a system keeps of each thread: nothing here, where the kernel samples all threads.
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn reset(&self) {}
    pub(crate) fn attach(&self, _thread: i32) {}
    pub(crate) fn run(&self, _on: bool) {}
    pub(crate) fn settle(&self, _is_last: bool) {}
}

/// What will be tried.
struct Plan {
    is_itimer: bool,
    rate: u32,
}

/// What to try where the kernel's clocks have these rates.
fn plan(wish: &Wish, rates: &ClockRates) -> Plan {
    let profiling = u32::try_from(rates.profiling).unwrap_or(0);
    let is_itimer = match wish.sampler {
        Some(sampler) => sampler == Sampler::Itimer,
        None => wish.rate.is_some(),
    };
    if !is_itimer && profiling > 0 {
        return Plan { is_itimer: false, rate: profiling };
    }
    // The interval timer is looked at once in each tick.
    let highest = u32::try_from(rates.ticks).unwrap_or(0).max(DEFAULT_RATE);
    Plan { is_itimer: true, rate: wish.rate.unwrap_or(DEFAULT_RATE).min(highest) }
}

/// Settles what will produce the ticks, as near to the user's wish as can be; what is done otherwise is said. At start-up: the
/// kernel does not tell its rates in capability mode.
pub(crate) fn choose(wish: &Wish) {
    let plan = plan(wish, &clock_rates());
    let mut rate = Text::<10>::new();
    rate.push_decimal(u64::from(plan.rate));
    if wish.wall {
        say(&[b"GMON_CLOCK=wall: nothing here samples threads that sleep: using cpu"]);
    }
    if plan.is_itimer && wish.sampler == Some(Sampler::Profil) {
        say(&[b"kern.clockrate has no rate of profil: using GMON_SAMPLER=itimer"]);
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

/// Produces ticks from now on.
pub(crate) fn start() -> Result<(), Errno> {
    if IS_ITIMER.load(SeqCst) {
        return interval::start(profrate());
    }
    counters::start()?;
    reader::start();
    Ok(())
}

/// Produces no more ticks. What the kernel has counted was [`collect`]ed before.
pub(crate) fn stop() {
    if IS_ITIMER.load(SeqCst) {
        interval::stop(profrate());
    } else {
        counters::stop();
    }
}

/// Sees to it that what has been sampled is counted.
pub(crate) fn collect() {
    counters::collect();
}

/// Counts what is left when no more ticks come, and ends the thread that reads the counters.
pub(crate) fn settle_for_good() {
    counters::collect();
    reader::end();
}

/// Sees to it that what has been sampled is not counted.
pub(crate) fn discard() {
    counters::discard();
}

/// Says what is missing, if something is.
pub(crate) fn report() {
    reader::report();
    interval::report();
}

/// Begins anew: the kernel samples the child of a fork as its parent, into the child's own copy of the counters; but the child
/// has no thread that reads the counters.
///
/// The child has no interval timer either, and does not get one: the timer would go on in the program that most children execute,
/// and SIGPROF would kill that program.
pub(crate) fn after_fork_in_child() {
    counters::forget();
    reader::after_fork_in_child();
    if bins::is_counting() && !IS_ITIMER.load(SeqCst) {
        let _ = start();
    }
}

/// Stops the interval timer, which would go on in the program that is about to be executed. Says whether it ran.
pub(crate) fn stop_before_exec() -> bool {
    let runs = IS_ITIMER.load(SeqCst) && interval::runs(profrate());
    if runs {
        interval::stop(profrate());
    }
    runs
}

/// The signals that the kernel blocks where a thread blocks these: the same.
pub(crate) fn to_be_blocked(signals: SignalSet) -> SignalSet {
    signals
}
