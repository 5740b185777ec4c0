//! The histograms that a form can hold, and the number of fields for a count.

use alloc::vec::Vec;

use crate::{Histogram, Profile, Result};

/// The histograms that have bins. An error for invalid histograms.
pub(super) fn inhabited(profile: &Profile) -> Result<Vec<&Histogram>> {
    let mut histograms = Vec::with_capacity(profile.histograms.len());
    for histogram in &profile.histograms {
        if histogram.has_bins()? {
            histograms.push(histogram);
        }
    }
    Ok(histograms)
}

/// The number of [`pieces`](crate::encode::pieces) for a count.
pub(super) fn piece_count(count: u64, most: u64) -> u64 {
    count.div_ceil(most).max(1)
}
