//! FreeBSD 14 and later: one folder per architecture with the same items in each, and the code that all architectures
//! share.

#[cfg(feature = "start")]
mod arrays;
#[cfg(not(feature = "start"))]
mod by_hand;
mod exec;
mod exec_lists;
mod exec_search;
mod fork;
#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64/mod.rs")]
pub(super) mod machine;
mod names;
#[cfg(feature = "start")]
mod notes;
#[cfg(feature = "start")]
mod start;

#[cfg(not(feature = "start"))]
use by_hand::environment;
#[cfg(feature = "start")]
use start::environment;
