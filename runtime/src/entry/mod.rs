//! Where compiled code and the C library come in: one folder per architecture with the same items in each.
//!
//! Nothing in the crate calls these; they stand above all of it and call down.

#[cfg(all(feature = "start", not(test)))]
mod arrays;
#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64/mod.rs")]
mod machine;
#[cfg(all(feature = "start", not(test)))]
mod seccomp;
#[cfg(all(any(feature = "start", not(feature = "profil")), not(test)))]
mod start;
