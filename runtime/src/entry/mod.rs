//! The functions that compiled code and the C library call. `mcount` is the same on all systems, but compilers call
//! `mcount` by different names. Each system has a folder with these names, `_start`, and the functions of the C library
//! that the runtime interposes. `begin` is the same for all systems.
//!
//! No other module calls these functions; they use all modules below.

#[cfg(all(feature = "runtime", not(test)))]
mod begin;
#[cfg_attr(target_arch = "x86_64", path = "mcount/x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "mcount/aarch64.rs")]
mod mcount;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(target_os = "freebsd", path = "freebsd/mod.rs")]
#[cfg_attr(target_os = "openbsd", path = "openbsd/mod.rs")]
mod system;
