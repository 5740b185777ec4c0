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
    AUDIT_MACHINE, LARGEST_PAGE, O_DIRECTORY, O_NOFOLLOW, PERF_PROGRAM_COUNTER, interrupted_pc, numbers, signal_return,
    syscall,
};
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use thread::{fourth_word, publish_record, record, set_fourth_word, set_table, thread_pointer};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use weak::dlsym_address;
