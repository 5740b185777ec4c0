//! AArch64.

mod mcount;
// A test has a start of its own.
#[cfg(all(feature = "start", not(test)))]
mod start;
#[cfg(all(feature = "start", not(test)))]
mod syscall;
