//! The errors of the writers.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::{ErrorKind, Part};
use crate::{Dimension, Encoding, Form};

/// The reason why a form cannot hold a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// No system has files with this form, byte order, and a `long` of 32 bits beside addresses of 64 bits.
    NotWritten {
        /// The encoding.
        encoding: Encoding,
    },
    /// An address does not fit the 32-bit word of the file.
    WideAddress {
        /// The address.
        address: u64,
        /// The offset in the file.
        offset: u64,
    },
    /// The form gives a caller at this address another meaning.
    ReservedAddress {
        /// The address.
        address: u64,
    },
    /// The count of a bin does not fit the counters of the file.
    WideBin {
        /// The index of the bin.
        bin: u64,
        /// The count.
        count: i128,
        /// The offset in the file.
        offset: u64,
    },
    /// The form holds one histogram.
    TooManyHistograms {
        /// The number in the profile.
        histograms: usize,
    },
    /// The form needs a histogram, and the profile has none.
    NoHistogram,
    /// The form holds samples of time only: the dimension must be seconds, abbreviated `s`.
    NotSeconds {
        /// The dimension of the profile.
        dimension: Dimension,
        /// Its abbreviation.
        abbrev: u8,
    },
    /// The form does not hold basic-block counts.
    BlocksNotHeld {
        /// The number in the profile.
        blocks: usize,
    },
    /// The form does not hold the caller of a call: `mon.out` holds none, and an `LD_PROFILE` file only those inside the
    /// object.
    CallerNotHeld {
        /// The address in the caller.
        frompc: u64,
        /// The address in the function called.
        selfpc: u64,
    },
    /// The form does not hold calls outside of the range of the samples.
    OutsideRange {
        /// The address of the call.
        address: u64,
        /// The range of the samples.
        range: Range<u64>,
    },
    /// The form needs another number of bins for the address range.
    OtherBins {
        /// The number of bins.
        bins: u64,
        /// The number that the range needs.
        needed: u64,
        /// The address range.
        range: Range<u64>,
    },
    /// A size does not fit its field in the file. Or the empty bins of a sparse histogram exceed the limit of repeated
    /// records.
    TooLarge {
        /// The part that is too large.
        part: Part,
        /// The size of the part: bins of a GNU histogram, the number of GNU basic-block counts, arcs of an `LD_PROFILE`
        /// file, otherwise bytes.
        size: u64,
        /// The maximum size, in the same unit; the limit of the caller is in bytes.
        limit: u64,
    },
    /// Counts are so high that the repeated records exceed the limit: [`REPEAT_LIMIT`](crate::REPEAT_LIMIT) unless
    /// the caller sets another limit.
    TooManyRepeats {
        /// The size of these records in bytes.
        size: u64,
    },
    /// The form has only 32-bit addresses.
    NoWideAddresses {
        /// The form.
        form: Form,
    },
    /// The form has addresses that count from the start of a shared object: the range must start at 0.
    NotRelative {
        /// The start of the range.
        lowpc: u64,
    },
    /// The path of an image contains a NUL, which ends the path in the file.
    PathNotHeld {
        /// The path.
        path: Vec<u8>,
    },
    /// The file cannot be written.
    #[cfg(feature = "std")]
    Io(super::IoError),
}

impl WriteError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            #[cfg(feature = "std")]
            WriteError::Io(_) => ErrorKind::Io,
            _ => ErrorKind::NotHeld,
        }
    }

    /// The offset in the file of the value that the form cannot hold, if the error has one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        match self {
            WriteError::WideAddress { offset, .. } | WriteError::WideBin { offset, .. } => Some(*offset),
            _ => None,
        }
    }
}

impl core::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            #[cfg(feature = "std")]
            WriteError::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> WriteError {
        WriteError::Io(error.into())
    }
}

impl fmt::Display for WriteError {
    #[rustfmt::skip] // A failure and its text stand together.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::NotWritten { encoding } => write!(f, "no system has such files ({encoding})"),
            WriteError::NoWideAddresses { form } => write!(f, "{form} files have only 32-bit addresses"),
            WriteError::NotRelative { lowpc } =>
                write!(f, "the form holds addresses from 0 on only (the samples start at {lowpc:#x})"),
            WriteError::PathNotHeld { path } =>
                write!(f, "path of an image with a NUL (\"{}\")", path.escape_ascii()),
            WriteError::WideAddress { address, offset } =>
                write!(f, "address does not fit 32 bits ({address:#x} at offset {offset:#x})"),
            WriteError::ReservedAddress { address } =>
                write!(f, "the form has another meaning for calls from this address ({address:#x})"),
            WriteError::WideBin { bin, count, offset } =>
                write!(f, "bin {bin} does not fit the counters of the form ({count} at offset {offset:#x})"),
            WriteError::TooManyHistograms { histograms } => write!(f, "the form holds one histogram ({histograms} given)"),
            WriteError::NoHistogram => write!(f, "the form needs a histogram (none given)"),
            WriteError::NotSeconds { dimension, abbrev } =>
                write!(f, "the form holds seconds only (\"{dimension}\", '{}' given)", abbrev.escape_ascii()),
            WriteError::BlocksNotHeld { blocks } => write!(f, "the form holds no basic-block counts ({blocks} given)"),
            WriteError::CallerNotHeld { frompc, selfpc } =>
                write!(f, "the form does not hold this caller (call from {frompc:#x} to {selfpc:#x})"),
            WriteError::OutsideRange { address, range } =>
                write!(f, "the form does not hold calls outside of {range:#x?} ({address:#x})"),
            WriteError::OtherBins { bins, needed, range } =>
                write!(f, "the form needs another number of bins for {range:#x?} ({needed}, {bins} given)"),
            WriteError::TooLarge { part, size, limit } =>
                write!(f, "{part} too large for the form ({size:#x}, limit {limit:#x})"),
            WriteError::TooManyRepeats { size } =>
                write!(f, "counts too high for the form ({size:#x} bytes of repeated records)"),
            #[cfg(feature = "std")]
            WriteError::Io(error) => write!(f, "cannot write the file ({error})"),
        }
    }
}
