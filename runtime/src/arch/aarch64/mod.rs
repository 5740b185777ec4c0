//! AArch64.

mod system;
// Calls are recorded by the runtime alone.
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod thread;
#[cfg(all(feature = "start", not(test)))]
mod weak;

#[cfg(any(test, feature = "profil"))]
pub(crate) use system::profil_numbers;
pub(crate) use system::{
    LARGEST_PAGE, O_DIRECTORY, O_NOFOLLOW, PERF_PROGRAM_COUNTER, Stat, interrupted_pc, numbers, signal_return, syscall,
};
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use thread::{record, set_record, set_table};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use weak::dlsym_address;
