//! arm64.

mod exec_lists;
mod rfork;
#[cfg(feature = "start")]
mod start;
mod weak_symbols;

pub(in super::super) use crate::mcount::miss;
pub(super) use weak_symbols::thread_fork_address;
