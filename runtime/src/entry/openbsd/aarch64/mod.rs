//! arm64.

mod mcount;
#[cfg(feature = "start")]
mod start;

pub(in super::super) use mcount::miss;
