//! Chooses what samples: the kernel, or the process's interval timer if the user asks for another rate.

use core::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::rate::{self, DEFAULT_RATE};
use crate::message::say;
use crate::os::{ClockRates, clock_rates};
use crate::state::Inherited;
use crate::text::Text;

/// A source of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    /// The kernel, with `profil(2)`.
    Profil,
    /// The process's interval timer, with SIGPROF.
    Itimer,
}

impl Sampler {
    /// The sampler whose ticks are signals.
    pub(crate) const WITH_SIGNALS: Sampler = Sampler::Itimer;

    /// Returns the sampler with the name, a value of `GMON_SAMPLER`.
    pub(crate) fn named(name: &[u8]) -> Option<Sampler> {
        match name {
            b"profil" => Some(Sampler::Profil),
            b"itimer" => Some(Sampler::Itimer),
            _ => None,
        }
    }
}

/// The valid values of `GMON_SAMPLER`, for the message about an invalid value.
#[cfg(not(test))]
pub(crate) const SAMPLER_NAMES: &[u8] = b"profil or itimer";

/// The end of the message for an invalid rate. The default rate depends on the sampler.
#[cfg(not(test))]
pub(crate) const RATE_OTHERWISE: &[u8] = b": using the default";

/// The sampler settings that the user requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Samples per second, from 1 to [`HIGHEST_RATE`].
    pub(crate) rate: Option<u32>,
    /// Whether to sample wall-clock time, which no sampler on these systems can do.
    pub(crate) wall: bool,
    pub(crate) sampler: Option<Sampler>,
}

/// The highest number of samples per second that the user may request.
pub(crate) const HIGHEST_RATE: u32 = 10_000;

/// Set if the interval timer samples instead of the kernel.
static IS_ITIMER: Inherited<AtomicBool> =
    Inherited::new("what the user asked for, and what the system has", AtomicBool::new(false));

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

/// Chooses the sampler and the rate, and prints a message if the user's request is not possible on the named system.
/// Must be called at start-up: in FreeBSD's capability mode the kernel does not report the rates of its clocks.
pub(super) fn choose(wish: &Wish, system: &[u8]) {
    let plan = plan(wish, &clock_rates());
    let mut rate = Text::<10>::new();
    rate.push_decimal(u64::from(plan.rate));
    if wish.wall {
        say(&[b"GMON_CLOCK=wall is not possible on ", system, b": using cpu"]);
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

/// Returns whether the interval timer samples instead of the kernel.
pub(super) fn is_itimer() -> bool {
    IS_ITIMER.load(SeqCst)
}
