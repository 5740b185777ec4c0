//! x86-64.

mod hash;
mod system;
mod thread;

pub(crate) use hash::{FACTOR, MULTIPLIER, SHIFT, hash};
pub(crate) use system::{PERF_PROGRAM_COUNTER, interrupted_pc, numbers, signal_return, syscall};
pub(crate) use thread::{record, set_record, set_table};
