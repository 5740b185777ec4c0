//! The errors of the system.

use core::fmt;
use std::io;
use std::string::ToString as _;
use std::sync::Arc;

/// An error of the system while a file is read or written.
///
/// The errors of this crate can be cloned and compared, and an [`io::Error`] cannot. So all clones share the
/// [`io::Error`], and two errors are equal if kind, number, and message are equal.
#[derive(Clone, Debug)]
pub struct IoError(Arc<io::Error>);

impl IoError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.0.kind()
    }

    /// The number of the system (`errno`), if the error has one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.raw_os_error()
    }

    /// The error as the reader or the writer returned it.
    #[must_use]
    pub fn get(&self) -> &io::Error {
        &self.0
    }
}

impl PartialEq for IoError {
    fn eq(&self, other: &IoError) -> bool {
        let same = (self.kind(), self.raw_os_error()) == (other.kind(), other.raw_os_error());
        same && (Arc::ptr_eq(&self.0, &other.0) || self.0.to_string() == other.0.to_string())
    }
}

impl Eq for IoError {}

impl From<io::Error> for IoError {
    fn from(error: io::Error) -> IoError {
        IoError(Arc::new(error))
    }
}

impl From<io::ErrorKind> for IoError {
    fn from(kind: io::ErrorKind) -> IoError {
        io::Error::from(kind).into()
    }
}

impl core::error::Error for IoError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.source()
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
