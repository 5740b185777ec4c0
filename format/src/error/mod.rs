//! The errors of this crate: one enum for each operation.

mod field;
mod foreign;
mod histogram;
#[cfg(feature = "std")]
mod io;
mod kind;
mod part;
mod read;
mod side_file;
mod sum;
mod write;

use core::fmt;

pub use field::Field;
pub use foreign::Foreign;
pub use histogram::HistogramError;
#[cfg(feature = "std")]
pub use io::IoError;
pub use kind::ErrorKind;
pub use part::Part;
pub use read::ReadError;
pub use side_file::{SideFileBuildError, SideFileReadError, SideFileSumError};
pub use sum::SumError;
pub use write::WriteError;

/// The error of any operation of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An error of [`detect`](crate::detect()) and [`read`](crate::read()).
    Read(ReadError),
    /// An error of sums of profiles.
    Sum(SumError),
    /// An error of [`write`](crate::write()).
    Write(WriteError),
    /// An error of [`Histogram::new`](crate::Histogram::new).
    Histogram(HistogramError),
    /// An error of reading a side file.
    SideFileRead(SideFileReadError),
    /// An error of an item that is added to a side file.
    SideFileBuild(SideFileBuildError),
    /// An error of sums of side files.
    SideFileSum(SideFileSumError),
    /// An error of the system outside of the functions of this crate, such as a file that cannot be opened.
    #[cfg(feature = "std")]
    Io(IoError),
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
            Error::SideFileRead(error) => error.kind(),
            Error::SideFileBuild(error) => error.kind(),
            Error::SideFileSum(error) => error.kind(),
            #[cfg(feature = "std")]
            Error::Io(_) => ErrorKind::Io,
        }
    }

    /// The offset in the file of the invalid value, if the error has one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        match self {
            Error::Read(error) => error.offset(),
            Error::Write(error) => error.offset(),
            Error::SideFileRead(error) => Some(error.offset()),
            Error::Sum(_) | Error::Histogram(_) | Error::SideFileBuild(_) | Error::SideFileSum(_) => None,
            #[cfg(feature = "std")]
            Error::Io(_) => None,
        }
    }
}

impl core::error::Error for Error {
    /// The source of the error in the variant: the variant adds nothing to that error.
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Error::Read(error) => error.source(),
            Error::Sum(error) => error.source(),
            Error::Write(error) => error.source(),
            Error::Histogram(error) => error.source(),
            Error::SideFileRead(error) => error.source(),
            Error::SideFileBuild(error) => error.source(),
            Error::SideFileSum(error) => error.source(),
            #[cfg(feature = "std")]
            Error::Io(error) => error.source(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => error.fmt(f),
            Error::Sum(error) => error.fmt(f),
            Error::Write(error) => error.fmt(f),
            Error::Histogram(error) => error.fmt(f),
            Error::SideFileRead(error) => error.fmt(f),
            Error::SideFileBuild(error) => error.fmt(f),
            Error::SideFileSum(error) => error.fmt(f),
            #[cfg(feature = "std")]
            Error::Io(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error.into())
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

impl From<SideFileReadError> for Error {
    fn from(error: SideFileReadError) -> Error {
        Error::SideFileRead(error)
    }
}

impl From<SideFileBuildError> for Error {
    fn from(error: SideFileBuildError) -> Error {
        Error::SideFileBuild(error)
    }
}

impl From<SideFileSumError> for Error {
    fn from(error: SideFileSumError) -> Error {
        Error::SideFileSum(error)
    }
}
