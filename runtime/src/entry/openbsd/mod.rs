//! OpenBSD 7.8 and later: one folder per architecture with the same items in each, and the code that all architectures
//! share.

#[cfg(not(feature = "start"))]
mod by_hand;
mod dynamic;
mod exec;
mod fork;
#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64/mod.rs")]
pub(super) mod machine;
mod names;
mod notes;
mod pledge;
mod settings;
mod start;
