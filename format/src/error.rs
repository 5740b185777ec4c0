//! What can be wrong with a profile.

/// The result of this crate's functions.
pub type Result<T> = core::result::Result<T, Error>;

/// One thing that is wrong, with the value that is wrong and its byte offset in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {}
