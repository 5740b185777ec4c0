//! x86-64.

#[cfg(all(feature = "start", not(test)))]
mod doors;
mod system;
// Calls are recorded by the runtime alone.
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod thread;
#[cfg(all(feature = "start", not(test)))]
mod weak;

#[cfg(all(feature = "start", not(test)))]
pub(crate) use doors::handler_doors;
#[cfg(any(test, feature = "profil"))]
pub(crate) use system::profil_numbers;
pub(crate) use system::{
    LARGEST_PAGE, O_DIRECTORY, O_NOFOLLOW, PERF_PROGRAM_COUNTER, blocked_on_return, interrupted_pc, is_in_valgrind,
    is_signal_frame, numbers, signal_return, syscall,
};
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use thread::{record, set_record, set_table};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use weak::{
    bsd_signal_address, dlsym_address, handler_set_address, programs_sigaction_address, sigaction_address,
};
