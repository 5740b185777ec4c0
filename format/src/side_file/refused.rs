//! Values that a side file cannot have.

use crate::{Error, Part};

/// A value that a field cannot have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused(pub(super) Part, pub(super) u64);

/// The result of adding an item.
pub(super) type Added<T> = Result<T, Refused>;

impl Refused {
    /// The error for an item that was read at this offset.
    pub(super) fn at(self, offset: u64) -> Error {
        Error::BadValue { part: self.0, value: self.1, offset }
    }
}

impl From<Refused> for Error {
    fn from(Refused(part, value): Refused) -> Error {
        Error::Impossible { part, value }
    }
}
