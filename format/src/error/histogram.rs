//! The errors of histograms.

use core::fmt;
use core::ops::Range;

use super::ErrorKind;

/// The reason why a range and bins are not a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistogramError {
    /// The address range is empty, or ends before it starts.
    NoRange {
        /// The lowest address.
        lowpc: u64,
        /// The end of the range.
        highpc: u64,
    },
    /// There are no bins.
    NoBins {
        /// The address range.
        range: Range<u64>,
    },
    /// The bins of a sparse list are not in ascending order, or beyond the number of bins.
    Unordered {
        /// The index of the bin.
        bin: u64,
        /// The number of bins.
        bins: u64,
    },
}

impl HistogramError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }
}

impl core::error::Error for HistogramError {}

impl fmt::Display for HistogramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HistogramError::NoRange { lowpc, highpc } => {
                write!(f, "histogram without an address range ({lowpc:#x}..{highpc:#x})")
            }
            HistogramError::NoBins { range } => write!(f, "histogram without bins ({range:#x?})"),
            HistogramError::Unordered { bin, bins } => {
                write!(f, "bins not in ascending order (bin {bin} of {bins})")
            }
        }
    }
}
