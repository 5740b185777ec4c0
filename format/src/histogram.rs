//! The bins of a histogram and their addresses.

use core::ops::Range;

use crate::{Error, Histogram, Result};

impl Histogram {
    /// The count of one bin, which is negative only in a signed histogram; 0 for a bin that does not exist.
    #[must_use]
    pub fn count(&self, bin: usize) -> i128 {
        self.bins.get(bin).map_or(0, |count| self.value(*count))
    }

    /// The sum of all bins: the number of samples in the range.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.hit().map(|(_, count)| self.value(count)).sum()
    }

    /// The bins that are not 0, each with its index in [`Histogram::bins`] and its unchanged value. Most profiles
    /// have few.
    pub fn hit(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        const STRIDE: usize = 32;
        let strides = (0..).step_by(STRIDE).zip(self.bins.chunks(STRIDE));
        let hit = strides.filter(|(_, bins)| bins.iter().fold(0, |all, bin| all | bin) != 0);
        hit.flat_map(|(start, bins)| (start..).zip(bins)).filter(|(_, bin)| **bin != 0).map(|(at, bin)| (at, *bin))
    }

    /// The addresses of one bin: exactly those that [`bin_of`](Self::bin_of) maps to the bin.
    ///
    /// Bin `i` of `n` starts `ceil(i * (highpc - lowpc) / n)` bytes after `lowpc`. A bin that is smaller than a byte
    /// may have no address. For a bin that does not exist, the range is empty, at `highpc`.
    #[must_use]
    pub fn bin_range(&self, bin: usize) -> Range<u64> {
        self.bin_start(bin)..self.bin_start(bin.saturating_add(1))
    }

    /// The bin of an address, or `None` if the address is outside the range.
    #[must_use]
    pub fn bin_of(&self, pc: u64) -> Option<usize> {
        if pc >= self.highpc {
            return None;
        }
        let distance = u128::from(pc.checked_sub(self.lowpc)?);
        let span = u128::from(self.highpc.checked_sub(self.lowpc)?);
        let bin = distance.checked_mul(self.bins.len() as u128)?.checked_div(span)?;
        usize::try_from(bin).ok().filter(|bin| *bin < self.bins.len())
    }

    fn bin_start(&self, bin: usize) -> u64 {
        let bins = self.bins.len();
        if bin >= bins {
            return self.highpc;
        }
        // A product of two 64-bit numbers fits 128 bits, and the quotient is less than `span`: nothing saturates.
        let span = self.highpc.saturating_sub(self.lowpc);
        let distance = u128::from(span).saturating_mul(bin as u128).div_ceil(bins as u128);
        self.lowpc.saturating_add(u64::try_from(distance).unwrap_or(span))
    }

    fn value(&self, count: u64) -> i128 {
        if self.signed { i128::from(count.cast_signed()) } else { i128::from(count) }
    }

    /// The address range.
    pub(crate) fn range(&self) -> Range<u64> {
        self.lowpc..self.highpc
    }

    /// Whether the histogram has bins. An error unless both or neither of range and bins are empty.
    pub(crate) fn has_bins(&self) -> Result<bool> {
        let Histogram { lowpc, highpc, ref bins, .. } = *self;
        match (lowpc < highpc, bins.is_empty()) {
            (true, false) => Ok(true),
            (false, true) if lowpc == highpc => Ok(false),
            _ => Err(Error::BadHistogram { lowpc, highpc, bins: bins.len() }),
        }
    }
}
