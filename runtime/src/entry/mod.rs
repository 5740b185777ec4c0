//! Where compiled code and the C library come in. `mcount` is the same on all systems, but for the names that compilers know it by. One
//! folder per system has those names, `_start`, and the C library's functions that the runtime stands in for; and calls `begin`,
//! which is the same everywhere.
//!
//! Nothing in the crate calls these; they stand above all of it and call down.

#[cfg(all(feature = "runtime", not(test)))]
mod begin;
#[cfg_attr(target_arch = "x86_64", path = "mcount/x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "mcount/aarch64.rs")]
mod mcount;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(target_os = "freebsd", path = "freebsd/mod.rs")]
mod system;
