//! Adds up sparse histograms, of which a file may have very many.

use alloc::vec::Vec;

use crate::{Bins, Histogram, Profile, Record, SumError};

/// Sparse histograms of one range. Adding two of them takes time for both, so each sum in the list has at least twice the
/// counts of the next one: all additions together take little more than linear time.
#[derive(Default)]
pub(super) struct SparseSum {
    sums: Vec<Histogram>,
}

impl SparseSum {
    /// Adds a histogram. Returns the histogram if it is not sparse, or has another range or another unit.
    pub(super) fn add(&mut self, histogram: Histogram) -> Result<Option<Histogram>, SumError> {
        let is_alike = self.sums.first().is_none_or(|first| {
            (first.range(), first.len(), first.unit()) == (histogram.range(), histogram.len(), histogram.unit())
        });
        if !is_alike || size(&histogram).is_none() {
            return Ok(Some(histogram));
        }
        self.sums.push(histogram);
        while let [.., first, second] = self.sums.as_slice() {
            if size(first) >= size(second).map(|size| size.saturating_mul(2)) {
                break;
            }
            self.join()?;
        }
        Ok(None)
    }

    /// Adds the sum to a profile.
    pub(super) fn finish(mut self, profile: &mut Profile) -> Result<(), SumError> {
        while self.sums.len() > 1 {
            self.join()?;
        }
        self.sums.pop().map_or(Ok(()), |sum| profile.add_record(Record::Histogram(sum)))
    }

    /// Adds the last sum to the one before it.
    fn join(&mut self) -> Result<(), SumError> {
        if let (Some(last), Some(sum)) = (self.sums.pop(), self.sums.last_mut()) {
            let overflow = |bin| SumError::BinOverflow { range: last.range(), bin };
            sum.add(&last).map_err(overflow)?;
        }
        Ok(())
    }
}

/// The number of counts of a sparse histogram; `None` for others.
fn size(histogram: &Histogram) -> Option<usize> {
    match histogram.bins() {
        Bins::Sparse { counts, .. } => Some(counts.len()),
        _ => None,
    }
}
