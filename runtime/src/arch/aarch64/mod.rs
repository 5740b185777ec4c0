//! AArch64.

#[cfg(all(feature = "start", not(test)))]
mod handler_entries;
// Only the runtime writes a file in the middle of anything.
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod stack;
mod system;
// Calls are recorded by the runtime alone.
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod thread;
#[cfg(all(feature = "start", not(test)))]
mod weak_symbols;

#[cfg(all(feature = "start", not(test)))]
pub(crate) use handler_entries::handler_entries;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use stack::call_on_stack;
#[cfg(any(test, feature = "profil"))]
pub(crate) use system::profil_numbers;
pub(crate) use system::{
    AUDIT_MACHINE, LARGEST_PAGE, O_DIRECTORY, O_NOFOLLOW, PERF_PROGRAM_COUNTER, Stat, blocked_on_return,
    interrupted_pc, is_in_valgrind, is_signal_frame, numbers, signal_return, syscall,
};
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use thread::{fourth_word, publish_record, record, set_fourth_word, set_table, thread_pointer};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use weak_symbols::{
    bsd_signal_address, dlsym_address, handler_set_address, programs_sigaction_address, sigaction_address,
};
