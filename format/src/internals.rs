//! What the crates of this toolchain share. Not part of the API: any release may change these items.

pub use crate::distinct::{Crowded, Distinct};
