//! What only assembly can say, below everything else: one folder per architecture with the same items in each.
//!
//! The hash of an arc, this thread's block, raw system calls, what must be read from a signal context. The routines that
//! stand *above* the runtime, those that compiled code and the C library call, are in [`crate::entry`].
//!
//! # Safety
//!
//! Every routine says which registers it reads and writes; the callers' obligations are those of the system call or of
//! the structure named there.

#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
mod machine;

pub(crate) use machine::*;
