//! Changes of profiles that tests make.

use gmon::{Histogram, Profile};

/// Keeps only the first histogram.
pub fn keep_first_histogram(profile: &mut Profile) {
    profile
        .take_histograms()
        .into_iter()
        .take(1)
        .for_each(|first| profile.add_histogram(first).expect("one histogram"));
}

/// Replaces the counts of all bins. `count` gets the index of a bin and the bin's count.
pub fn replace_counts(profile: &mut Profile, mut count: impl FnMut(u64, i128) -> u64) {
    for histogram in profile.take_histograms() {
        let bins: Vec<u64> = (0..histogram.len()).map(|bin| count(bin, histogram.count(bin))).collect();
        let histogram = Histogram::new(histogram.range(), histogram.unit(), bins).expect("as many bins");
        profile.add_histogram(histogram).expect("the same ranges");
    }
}

/// The number of samples.
#[must_use]
pub fn samples(profile: &Profile) -> u64 {
    profile.histograms().iter().flat_map(Histogram::hit).map(|(_, count)| u64::try_from(count).expect("a count")).sum()
}
