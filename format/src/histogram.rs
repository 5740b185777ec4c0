//! Samples of one address range.

use core::ops::Range;

use crate::{Bins, Error, Hit, Unit};

/// Samples of the program counter over one address range, in bins of equal size.
///
/// The range is not empty, and there is at least one bin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Parts"))]
pub struct Histogram {
    lowpc: u64,
    highpc: u64,
    unit: Unit,
    bins: Bins,
}

impl Histogram {
    /// Makes a histogram of the addresses of `range`. Counts of 0 in sparse bins are removed.
    ///
    /// # Errors
    ///
    /// When the range is empty, when there are no bins, or when sparse bins are not in ascending order.
    pub fn new(range: Range<u64>, unit: Unit, bins: impl Into<Bins>) -> Result<Histogram, Error> {
        let Range { start: lowpc, end: highpc } = range;
        let mut bins = bins.into();
        if highpc <= lowpc {
            return Err(Error::EmptyRange { lowpc, highpc });
        }
        if bins.is_empty() {
            return Err(Error::EmptyHistogram { range });
        }
        if let Bins::Sparse { bins, counts } = &mut bins {
            let mut next = 0;
            for (bin, _) in counts.iter() {
                if *bin < next || bin >= bins {
                    return Err(Error::Unordered { bin: *bin, bins: *bins });
                }
                next = bin.saturating_add(1);
            }
            counts.retain(|(_, count)| *count != 0);
        }
        Ok(Histogram { lowpc, highpc, unit, bins })
    }

    /// The lowest address that is sampled.
    #[must_use]
    pub fn lowpc(&self) -> u64 {
        self.lowpc
    }

    /// The address after the highest sampled address.
    #[must_use]
    pub fn highpc(&self) -> u64 {
        self.highpc
    }

    /// The sampled addresses.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.lowpc..self.highpc
    }

    /// What one sample stands for.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Sets what one sample stands for.
    pub fn set_unit(&mut self, unit: Unit) {
        self.unit = unit;
    }

    /// The counters.
    #[must_use]
    pub fn bins(&self) -> &Bins {
        &self.bins
    }

    /// The counters, to be changed. Their number must stay the same.
    pub(crate) fn bins_mut(&mut self) -> &mut Bins {
        &mut self.bins
    }

    /// The same counters for another address range.
    ///
    /// # Errors
    ///
    /// When the range is empty.
    pub fn with_range(self, range: Range<u64>) -> Result<Histogram, Error> {
        Histogram::new(range, self.unit, self.bins)
    }

    /// The number of bins.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // A histogram is never empty.
    pub fn len(&self) -> u64 {
        self.bins.len()
    }

    /// The count of one bin, which is negative only with signed counters; 0 for a bin that does not exist.
    #[must_use]
    pub fn count(&self, bin: u64) -> i128 {
        self.bins.count(bin)
    }

    /// The sum of all bins: the number of samples in the range.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.hit().map(|(_, count)| count).sum()
    }

    /// The bins that are not 0, each with its index and its count. Most profiles have few.
    pub fn hit(&self) -> Hit<'_> {
        self.bins.hit()
    }

    /// The addresses of one bin: exactly those that [`bin_of`](Self::bin_of) maps to the bin.
    ///
    /// Bin `i` of `n` starts `ceil(i * (highpc - lowpc) / n)` bytes after `lowpc`. A bin that is smaller than a byte
    /// may have no address. For a bin that does not exist, the range is empty, at `highpc`.
    #[must_use]
    pub fn bin_range(&self, bin: u64) -> Range<u64> {
        self.bin_start(bin)..self.bin_start(bin.saturating_add(1))
    }

    /// The bin of an address, or `None` if the address is outside the range.
    #[must_use]
    pub fn bin_of(&self, pc: u64) -> Option<u64> {
        if pc >= self.highpc {
            return None;
        }
        let distance = u128::from(pc.checked_sub(self.lowpc)?);
        let span = u128::from(self.highpc.checked_sub(self.lowpc)?);
        let bin = distance.checked_mul(u128::from(self.len()))?.checked_div(span)?;
        u64::try_from(bin).ok()
    }

    fn bin_start(&self, bin: u64) -> u64 {
        let bins = self.len();
        if bin >= bins {
            return self.highpc;
        }
        // A product of two 64-bit numbers fits 128 bits, and the quotient is less than `span`: nothing saturates.
        let span = self.highpc.saturating_sub(self.lowpc);
        let distance = u128::from(span).saturating_mul(bin.into()).div_ceil(bins.into());
        self.lowpc.saturating_add(u64::try_from(distance).unwrap_or(span))
    }

    /// Adds the counts of a histogram of the same range and number of bins. The error is the index of the first bin
    /// whose sum does not fit. Nothing was added then.
    pub(crate) fn add(&mut self, other: &Histogram) -> Result<(), u64> {
        self.bins.add(&other.bins)
    }
}

/// What a histogram is made of, before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Parts {
    lowpc: u64,
    highpc: u64,
    unit: Unit,
    bins: Bins,
}

#[cfg(feature = "serde")]
impl TryFrom<Parts> for Histogram {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Histogram, Error> {
        Histogram::new(parts.lowpc..parts.highpc, parts.unit, parts.bins)
    }
}
