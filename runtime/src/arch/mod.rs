//! What only assembly can say, below everything else: one folder per architecture with the same items in each.
//!
//! This thread's block, another stack, symbols that need not be there; and the hash of an arc, which is the same
//! everywhere. The routines that stand *above* the runtime, those that compiled code and the C library call, are in [`crate::entry`].
//!
//! # Safety
//!
//! Every routine says which registers it reads and writes, and what its callers must see to.

// Calls are recorded by the runtime alone.
#[cfg(any(test, feature = "runtime"))]
mod block;
mod hash;
#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64/mod.rs")]
mod machine;

#[cfg(any(test, feature = "runtime"))]
pub(crate) use block::{filters_before, set_filters_before};
pub(crate) use hash::{FACTOR, hash};
pub use machine::LARGEST_PAGE;
pub(crate) use machine::*;
