//! amd64.

#[cfg(feature = "start")]
mod called_by_address;
mod mcount;
#[cfg(feature = "start")]
mod start;

#[cfg(feature = "start")]
pub(super) use called_by_address::{at_end, before_fork, in_child, in_parent};
