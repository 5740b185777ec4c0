//! amd64.

mod mcount;
#[cfg(feature = "start")]
mod start;
