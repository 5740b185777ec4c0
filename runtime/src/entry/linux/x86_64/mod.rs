//! Start-up code for x86-64.

// A test program has its own start-up code.
#[cfg(all(feature = "start", not(test)))]
mod losses;
#[cfg(all(feature = "preload", not(test)))]
mod passing;
#[cfg(all(feature = "start", not(feature = "preload"), not(test)))]
mod start;
#[cfg(all(feature = "start", not(test)))]
mod syscall;
#[cfg(all(feature = "start", not(test)))]
mod weak_symbols;

#[cfg(all(feature = "preload", not(test)))]
pub(super) use passing::begin_thread;
#[cfg(all(feature = "start", not(test)))]
pub(super) use weak_symbols::{bsd_signal_address, handler_set_address, programs_sigaction_address, sigaction_address};
