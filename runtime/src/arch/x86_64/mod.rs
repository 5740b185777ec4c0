//! x86-64.

mod hash;
mod system;
// Calls are recorded by the runtime alone.
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod thread;

pub(crate) use hash::{FACTOR, MULTIPLIER, SHIFT, hash};
#[cfg(any(test, feature = "profil"))]
pub(crate) use system::profil_numbers;
pub(crate) use system::{PERF_PROGRAM_COUNTER, interrupted_pc, numbers, signal_return, syscall};
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use thread::{record, set_record, set_table};
