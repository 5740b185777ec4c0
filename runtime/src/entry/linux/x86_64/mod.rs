//! Start-up code and `mcount` for x86-64.

mod mcount;
// A test program has its own start-up code.
#[cfg(all(feature = "start", not(test)))]
mod start;
#[cfg(all(feature = "start", not(test)))]
mod syscall;
