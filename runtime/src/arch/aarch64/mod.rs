//! AArch64.

mod system;
mod thread;

pub(crate) use system::{
    LARGEST_PAGE, O_DIRECTORY, O_NOFOLLOW, PERF_PROGRAM_COUNTER, interrupted_pc, numbers, signal_return, syscall,
};
pub(crate) use thread::{record, set_record, set_table};
