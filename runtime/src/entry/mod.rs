//! The functions that compiled code and the C library call. Each system has a folder with the names that compilers
//! and the C library use: `_start`, `mcount`, and the functions that the runtime interposes. `begin` is the same for
//! all systems.
//!
//! No other module calls these functions; they use all modules below.

#[cfg(all(feature = "runtime", not(test)))]
mod begin;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
mod system;
