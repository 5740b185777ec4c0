//! The result of the readers of side files.

use crate::SideFileReadError;

/// The result of the readers of side files.
pub(in crate::side_file) type Result<T> = core::result::Result<T, SideFileReadError>;
