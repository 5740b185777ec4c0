//! Where compiled code and the C library come in. One folder per system has the names that they know: `_start`, `mcount`, the C
//! library's functions that the runtime stands in for; and calls `begin`, which is the same everywhere.
//!
//! Nothing in the crate calls these; they stand above all of it and call down.

#[cfg(all(feature = "runtime", not(test)))]
mod begin;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
mod system;
