//! The errors of this crate: one enum for each operation.

mod foreign;
mod histogram;
mod kind;
mod part;
mod read;
mod side_file;
mod sum;
mod write;

use core::fmt;

pub use foreign::Foreign;
pub use histogram::HistogramError;
pub use kind::ErrorKind;
pub use part::Part;
pub use read::ReadError;
pub use side_file::{Field, SideFileError};
pub use sum::SumError;
pub use write::WriteError;

/// The error of any operation of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An error of [`detect`](crate::detect()), [`read`](crate::read()), and of reading side files.
    Read(ReadError),
    /// An error of sums.
    Sum(SumError),
    /// An error of [`write`](crate::write()).
    Write(WriteError),
    /// An error of [`Histogram::new`](crate::Histogram::new).
    Histogram(HistogramError),
    /// An error of an item that is added to a side file.
    SideFile(SideFileError),
}

impl Error {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Read(error) => error.kind(),
            Error::Sum(error) => error.kind(),
            Error::Write(error) => error.kind(),
            Error::Histogram(error) => error.kind(),
            Error::SideFile(error) => error.kind(),
        }
    }

    /// The offset in the file of the invalid value, if the error has one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        match self {
            Error::Read(error) => error.offset(),
            Error::Write(error) => error.offset(),
            Error::SideFile(error) => error.offset(),
            Error::Sum(_) | Error::Histogram(_) => None,
        }
    }
}

impl core::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => error.fmt(f),
            Error::Sum(error) => error.fmt(f),
            Error::Write(error) => error.fmt(f),
            Error::Histogram(error) => error.fmt(f),
            Error::SideFile(error) => error.fmt(f),
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Error {
        Error::Read(error)
    }
}

impl From<SumError> for Error {
    fn from(error: SumError) -> Error {
        Error::Sum(error)
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Error {
        Error::Write(error)
    }
}

impl From<HistogramError> for Error {
    fn from(error: HistogramError) -> Error {
        Error::Histogram(error)
    }
}

impl From<SideFileError> for Error {
    fn from(error: SideFileError) -> Error {
        Error::SideFile(error)
    }
}
