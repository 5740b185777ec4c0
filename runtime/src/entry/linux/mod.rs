//! Linux, with glibc or musl: one folder per architecture with the same items in each, and what all architectures
//! share.

#[cfg(all(feature = "start", not(test)))]
mod alternate_stacks;
#[cfg(all(feature = "start", not(feature = "preload"), not(test)))]
mod arrays;
#[cfg(all(feature = "start", not(test)))]
mod concurrent_exits;
#[cfg(all(feature = "start", not(test)))]
mod dispositions;
#[cfg(all(feature = "preload", not(test)))]
mod handover;
#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64/mod.rs")]
pub(super) mod machine;
#[cfg(all(feature = "preload", not(test)))]
mod preload;
#[cfg(all(feature = "runtime", not(test)))]
mod request_note;
#[cfg(all(feature = "start", not(test)))]
mod seccomp;
#[cfg(all(feature = "start", not(test)))]
mod signal_masks;
#[cfg(all(feature = "runtime", not(test)))]
mod start;
