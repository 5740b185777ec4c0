//! What only assembly can do, below all other modules: one folder for each architecture with the same items in each.
//!
//! The items are access to this thread's block, another stack, weak symbols, and the hash of an arc, which is the
//! same for all architectures. The routines that compiled code and the C library call are in [`crate::entry`].
//!
//! # Safety
//!
//! Every routine says which registers it reads and writes, and what its callers must ensure.

// Only the runtime records calls.
#[cfg(any(test, feature = "runtime"))]
mod block;
mod hash;
#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64/mod.rs")]
mod machine;
#[cfg(not(any(test, feature = "runtime")))]
mod no_block;

#[cfg(any(test, feature = "runtime"))]
pub(crate) use block::{entry_index, filters_before, publish_record, record, set_entry_index, set_filters_before};
pub(crate) use hash::{FACTOR, hash};
pub use machine::LARGEST_PAGE;
pub(crate) use machine::*;
#[cfg(not(any(test, feature = "runtime")))]
pub(crate) use no_block::{entry_index, set_entry_index};
