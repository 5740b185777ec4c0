//! What a form has room for: the histograms that it holds, and counts in pieces that fit a field.

use alloc::vec::Vec;
use core::iter;

use crate::{Histogram, Profile, Result};

/// The histograms that have bins. An error for those that can not be.
pub(super) fn inhabited(profile: &Profile) -> Result<Vec<&Histogram>> {
    let mut histograms = Vec::with_capacity(profile.histograms.len());
    for histogram in &profile.histograms {
        if histogram.is_inhabited()? {
            histograms.push(histogram);
        }
    }
    Ok(histograms)
}

/// How many [`pieces`] a count has.
pub(super) fn piece_count(count: u64, most: u64) -> u64 {
    count.div_ceil(most).max(1)
}

/// A count as the sum of numbers that are not greater than `most`: at least one number.
pub(super) fn pieces(count: u64, most: u64) -> impl Iterator<Item = u64> {
    let rests = iter::successors(Some(count), move |rest| rest.checked_sub(most).filter(|rest| *rest != 0));
    rests.map(move |rest| rest.min(most))
}
