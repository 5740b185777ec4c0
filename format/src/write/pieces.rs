//! What a form has room for: the histograms that it holds, and how many fields a count needs.

use alloc::vec::Vec;

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

/// How many [`pieces`](crate::encode::pieces) a count has.
pub(super) fn piece_count(count: u64, most: u64) -> u64 {
    count.div_ceil(most).max(1)
}
