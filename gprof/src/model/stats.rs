//! Sums that tell how much of the profiles the reports account for.

use gmon::{Histogram, Profile};

use crate::model::flat::Flat;
use crate::model::graph::arcs::CallSums;
use crate::model::percent::whole;
use crate::sources::OutsideImages;

/// Sums over the profiles, without what is in [`Stats::outside_images`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of samples.
    pub samples: f64,
    /// The standard error of `samples`: the square root of the number of counted samples.
    pub error: f64,
    /// The samples in functions of the flat profile.
    pub attributed: f64,
    /// The samples in the profiling runtime, unless the user selected the runtime.
    pub runtime: f64,
    /// The samples in functions that the user excluded.
    pub left_out: f64,
    /// The samples outside of all functions.
    pub outside: f64,
    /// The number of calls.
    pub calls: u64,
    /// The calls by code outside of the program's functions.
    pub from_outside: u64,
    /// The calls of code outside of the program's functions.
    pub to_outside: u64,
    /// The calls with both ends outside of the program's functions.
    pub unknown: u64,
    /// The samples and calls in none of the images.
    pub outside_images: OutsideImages,
    /// The samples of stacks that the bins of the profiles lack.
    pub missing_in_bins: u64,
}

impl Stats {
    /// Returns a number of samples as a percentage of all samples.
    #[must_use]
    pub fn percent(&self, samples: f64) -> f64 {
        100.0 * samples / whole(self.samples)
    }

    /// Computes all sums.
    pub(super) fn new(profile: &Profile, calls: CallSums, flat: FlatSums, outside_images: OutsideImages) -> Stats {
        let sums: Vec<(i128, f64)> = profile.histograms().iter().map(sums).collect();
        let samples = sums.iter().map(|(total, _)| *total as f64).sum();
        let counted: f64 = sums.iter().map(|(_, sizes)| sizes).sum();
        Stats {
            samples,
            error: counted.sqrt(),
            attributed: flat.attributed,
            runtime: flat.runtime,
            left_out: samples - flat.total - flat.runtime,
            outside: flat.total - flat.attributed,
            calls: calls.all,
            from_outside: calls.from_outside,
            to_outside: calls.to_outside,
            unknown: calls.unknown,
            outside_images,
            missing_in_bins: 0,
        }
    }

    /// Sets the number of samples of stacks that the bins lack.
    pub(super) fn with_missing(self, missing_in_bins: u64) -> Stats {
        Stats { missing_in_bins, ..self }
    }
}

/// Returns the sum of all bins, and the sum of their sizes, which differs if counts are negative.
fn sums(histogram: &Histogram) -> (i128, f64) {
    histogram.hit().fold((0_i128, 0.0_f64), |(total, sizes), (_, count)| {
        (total.saturating_add(count), sizes + count.unsigned_abs() as f64)
    })
}

/// The sums of the flat profile.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatSums {
    attributed: f64,
    total: f64,
    runtime: f64,
    pub(super) has_time: bool,
}

impl FlatSums {
    /// Returns the samples in the images, those of the profiling runtime included.
    pub(super) fn samples(&self) -> f64 {
        self.total + self.runtime
    }

    pub(super) fn new(flat: &Flat) -> FlatSums {
        FlatSums {
            attributed: flat.time.iter().sum(),
            total: flat.total,
            runtime: flat.runtime,
            has_time: flat.runtime != 0.0 || flat.time.iter().any(|time| *time != 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiling_runtime_is_among_the_samples_of_the_images() {
        let flat = Flat { time: vec![3.0, 4.5], total: 10.0, runtime: 2.5 };
        assert_eq!(FlatSums::new(&flat).samples(), 12.5);
    }
}
