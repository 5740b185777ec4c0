//! The result of the readers.

use crate::ReadError;

/// The result of the readers.
pub(crate) type Result<T> = core::result::Result<T, ReadError>;
