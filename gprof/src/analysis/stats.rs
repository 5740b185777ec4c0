//! How much of the profiles the reports account for.

use gmon::{Histogram, Profile};

use crate::flat::Flat;
use crate::functions::Functions;

/// What was counted in none of the images: samples, and calls of functions that are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beyond {
    /// Samples in the kernel.
    pub kernel: u64,
    /// Samples in what the kernel lends to every process.
    pub vdso: u64,
    /// Samples anywhere else.
    pub elsewhere: u64,
    /// Calls.
    pub calls: u64,
}

impl Beyond {
    /// Adds what others counted.
    pub fn add(&mut self, other: &Beyond) {
        let Beyond { kernel, vdso, elsewhere, calls } = self;
        let sums = [(kernel, other.kernel), (vdso, other.vdso), (elsewhere, other.elsewhere), (calls, other.calls)];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}

/// Sums over the profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// All samples.
    pub samples: f64,
    /// Their standard error: the root of how many were counted.
    pub error: f64,
    /// Those credited to functions of the flat profile.
    pub attributed: f64,
    /// Those of the profiling runtime, unless it was chosen.
    pub runtime: f64,
    /// Those of functions that the user left out.
    pub left_out: f64,
    /// Those outside of all functions.
    pub outside: f64,
    /// All calls.
    pub calls: u64,
    /// Calls by what is no function of the program.
    pub from_outside: u64,
    /// Calls of what is no function of the program.
    pub to_outside: u64,
    /// Calls of which both ends are unknown.
    pub unknown: u64,
    /// What is in no image, and thus in none of the above.
    pub beyond: Beyond,
}

impl Stats {
    /// Adds everything up.
    pub(super) fn new(profile: &Profile, functions: &Functions<'_>, flat: &Flat, beyond: Beyond) -> Stats {
        let samples = profile.histograms.iter().map(|histogram| histogram.total() as f64).sum();
        let sizes = |histogram: &Histogram| -> f64 {
            histogram.hit().map(|(bin, _)| histogram.count(bin).unsigned_abs() as f64).sum()
        };
        let counted: f64 = profile.histograms.iter().map(sizes).sum();
        let attributed = flat.time.iter().sum();
        let mut stats = Stats {
            samples,
            error: counted.sqrt(),
            attributed,
            runtime: flat.runtime,
            left_out: samples - flat.total - flat.runtime,
            outside: flat.total - attributed,
            beyond,
            ..Stats::default()
        };
        for arc in &profile.arcs {
            let add = |sum: &mut u64| *sum = sum.saturating_add(arc.count);
            add(&mut stats.calls);
            match (functions.find(arc.frompc).is_some(), functions.find(arc.selfpc).is_some()) {
                (true, true) => {}
                (false, true) => add(&mut stats.from_outside),
                (true, false) => add(&mut stats.to_outside),
                (false, false) => add(&mut stats.unknown),
            }
        }
        stats
    }
}
