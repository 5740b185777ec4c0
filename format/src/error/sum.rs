//! The errors of sums.

use core::fmt;
use core::ops::Range;

use super::ErrorKind;
use crate::Dimension;

/// The reason why profiles, or histograms of one profile, cannot be added up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SumError {
    /// Two address ranges overlap without being the same.
    Overlap {
        /// The range that came first.
        first: Range<u64>,
        /// The range that overlaps it.
        second: Range<u64>,
    },
    /// Two histograms of one address range have different numbers of bins.
    BinsDiffer {
        /// The address range.
        range: Range<u64>,
        /// Bins of the histogram that came first.
        first: u64,
        /// Bins of the other.
        second: u64,
    },
    /// The bins of two histograms differ in size.
    ScalesDiffer {
        /// The range that came first.
        first: Range<u64>,
        /// Its bins.
        first_bins: u64,
        /// The other range.
        second: Range<u64>,
        /// Its bins.
        second_bins: u64,
    },
    /// Two histograms have different dimensions.
    DimensionsDiffer {
        /// The dimension of the first histogram.
        first: Dimension,
        /// The dimension of the other histogram.
        second: Dimension,
    },
    /// Two histograms of one dimension abbreviate it differently.
    AbbrevsDiffer {
        /// The abbreviation of the first one.
        first: u8,
        /// The abbreviation of the other one.
        second: u8,
    },
    /// Two histograms were sampled at different rates.
    RatesDiffer {
        /// The samples per second of the first one.
        first: u32,
        /// The samples per second of the other one.
        second: u32,
    },
    /// The sum of a bin does not fit 64 bits.
    BinOverflow {
        /// The address range of the histogram.
        range: Range<u64>,
        /// The index of the bin.
        bin: u64,
    },
    /// The sum of an arc's counts does not fit 64 bits.
    ArcOverflow {
        /// The address in the caller.
        frompc: u64,
        /// The address in the function called.
        selfpc: u64,
    },
    /// The sum of a basic block's counts does not fit 64 bits.
    BlockOverflow {
        /// The block's address.
        addr: u64,
    },
}

impl SumError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            SumError::BinOverflow { .. } | SumError::ArcOverflow { .. } | SumError::BlockOverflow { .. } => {
                ErrorKind::Overflow
            }
            _ => ErrorKind::Incompatible,
        }
    }
}

impl core::error::Error for SumError {}

impl fmt::Display for SumError {
    #[rustfmt::skip] // A failure and its text stand together.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SumError::Overlap { first, second } => write!(f, "overlapping histograms ({first:#x?} and {second:#x?})"),
            SumError::BinsDiffer { range, first, second } =>
                write!(f, "histograms differ in bins ({first} and {second} for {range:#x?})"),
            SumError::ScalesDiffer { first, first_bins, second, second_bins } =>
                write!(f, "histograms differ in scale ({first_bins} bins for {first:#x?}, {second_bins} \
                           for {second:#x?})"),
            SumError::DimensionsDiffer { first, second } =>
                write!(f, "histograms differ in dimension (\"{first}\" and \"{second}\")"),
            SumError::AbbrevsDiffer { first, second } =>
                write!(f, "histograms differ in abbreviation ('{}' and '{}')",
                       first.escape_ascii(), second.escape_ascii()),
            SumError::RatesDiffer { first, second } =>
                write!(f, "profiles differ in sampling rate ({first} and {second} a second)"),
            SumError::BinOverflow { range, bin } => write!(f, "sum does not fit 64 bits (bin {bin} of {range:#x?})"),
            SumError::ArcOverflow { frompc, selfpc } =>
                write!(f, "sum does not fit 64 bits (arc from {frompc:#x} to {selfpc:#x})"),
            SumError::BlockOverflow { addr } => write!(f, "sum does not fit 64 bits (basic block {addr:#x})"),
        }
    }
}
