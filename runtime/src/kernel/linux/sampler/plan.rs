//! Decides which sampler is used and at which rate: what the user wants, and what is possible.

/// The default rate, in samples per second.
pub(super) const DEFAULT_RATE: u32 = 100;
/// The highest default rate of CPU time in a program that gmon-run profiles. docs/BENCHMARKS.md has the cost of a
/// sample: this rate costs less than half a percent.
const RATE_OF_ANY_PROGRAM: u32 = 250;

/// The highest rate that a user may ask for; above this rate the program would mostly be busy with samples.
pub(crate) const HIGHEST_RATE: u32 = 10_000;

/// What produces samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    /// The kernel's sampler, which writes to a ring for each processor: no signal, any rate.
    Perf,
    /// A timer for each thread.
    Timer,
    /// One timer for the process.
    Itimer,
}

impl Sampler {
    /// The sampler whose ticks are signals and count the time of all threads, also of those that call no profiled
    /// function.
    pub(crate) const WITH_SIGNALS: Sampler = Sampler::Itimer;

    /// The sampler with this name in `GMON_SAMPLER`.
    pub(crate) fn named(name: &[u8]) -> Option<Sampler> {
        match name {
            b"perf" => Some(Sampler::Perf),
            b"timer" => Some(Sampler::Timer),
            b"itimer" => Some(Sampler::Itimer),
            _ => None,
        }
    }
}

/// What the user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Samples per second, from 1 to [`HIGHEST_RATE`].
    pub(crate) rate: Option<u32>,
    /// Whether time passes for sleeping threads.
    pub(crate) wall: bool,
    pub(crate) sampler: Option<Sampler>,
}

/// The sampler and the rate that will be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) sampler: Sampler,
    pub(super) rate: u32,
    pub(super) wall: bool,
    /// The wanted sampler cannot sample sleeping threads.
    pub(super) is_other_sampler: bool,
    /// The wanted sampler cannot sample at this rate.
    pub(super) is_lower_rate: bool,
}

/// Plans for a kernel that checks timers of CPU time `ticks` times per second.
pub(super) fn plan(wish: &Wish, ticks: u32) -> Plan {
    let rate =
        wish.rate.unwrap_or(if cfg!(feature = "preload") { rate_by_default(wish.wall, ticks) } else { DEFAULT_RATE });
    if wish.wall {
        let is_other_sampler = wish.sampler.is_some_and(|sampler| sampler != Sampler::Timer);
        // Timers of wall-clock time do not wait for a kernel tick.
        return Plan { sampler: Sampler::Timer, rate, wall: true, is_other_sampler, is_lower_rate: false };
    }
    let default = if rate > ticks { Sampler::Perf } else { Sampler::Timer };
    let sampler = wish.sampler.unwrap_or(default);
    let possible = if sampler == Sampler::Perf { rate } else { rate.min(ticks) };
    Plan { sampler, rate: possible, wall: false, is_other_sampler: false, is_lower_rate: possible < rate }
}

/// The rate in a program that gmon-run profiles, if the user wants none. Timers reach the rate, so the rate needs no
/// privilege. Real time costs sleeping threads too, of which there may be many.
fn rate_by_default(wall: bool, ticks: u32) -> u32 {
    if wall { DEFAULT_RATE } else { RATE_OF_ANY_PROGRAM.min(ticks) }
}

/// Plans for a system without rings.
pub(super) fn without_ring(plan: &Plan, ticks: u32) -> Plan {
    Plan { sampler: Sampler::Timer, rate: plan.rate.min(ticks), ..*plan }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_rate_of_any_program_is_one_that_timers_reach() {
        let rates = [100, 250, 300, 1000].map(|ticks| rate_by_default(false, ticks));
        assert_eq!(rates, [100, 250, 250, 250]);
        assert_eq!(rate_by_default(true, 1000), DEFAULT_RATE);
    }

    fn planned(rate: Option<u32>, wall: bool, sampler: Option<Sampler>) -> (Sampler, u32, bool, bool) {
        let plan = plan(&Wish { rate, wall, sampler }, 250);
        (plan.sampler, plan.rate, plan.is_other_sampler, plan.is_lower_rate)
    }

    #[test]
    fn timers_serve_up_to_the_kernels_rate_and_the_ring_above_it() {
        assert_eq!(planned(None, false, None), (Sampler::Timer, 100, false, false));
        assert_eq!(planned(Some(250), false, None), (Sampler::Timer, 250, false, false));
        assert_eq!(planned(Some(251), false, None), (Sampler::Perf, 251, false, false));
        assert_eq!(without_ring(&plan(&Wish { rate: Some(999), ..Wish::default() }, 250), 250).rate, 250);
    }

    #[test]
    fn what_is_asked_for_is_done_at_a_rate_that_it_reaches() {
        for sampler in [Sampler::Timer, Sampler::Itimer] {
            assert_eq!(planned(Some(40), false, Some(sampler)), (sampler, 40, false, false));
            assert_eq!(planned(Some(1000), false, Some(sampler)), (sampler, 250, false, true));
        }
        assert_eq!(planned(Some(40), false, Some(Sampler::Perf)), (Sampler::Perf, 40, false, false));
    }

    #[test]
    fn only_timers_know_of_threads_that_sleep() {
        assert_eq!(planned(Some(1000), true, None), (Sampler::Timer, 1000, false, false));
        assert_eq!(planned(None, true, Some(Sampler::Timer)), (Sampler::Timer, 100, false, false));
        assert_eq!(planned(None, true, Some(Sampler::Perf)), (Sampler::Timer, 100, true, false));
        assert_eq!(planned(None, true, Some(Sampler::Itimer)), (Sampler::Timer, 100, true, false));
    }
}
