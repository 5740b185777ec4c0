//! arm64.

#[cfg(feature = "start")]
mod start;
#[cfg(feature = "start")]
mod weak_symbols;

#[cfg(feature = "start")]
pub(super) use weak_symbols::thread_fork_address;
