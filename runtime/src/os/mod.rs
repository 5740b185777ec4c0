//! The operating system's own calls, as far as the runtime needs them: memory, threads, files. One folder per system, and what the
//! linker and the dynamic linker of all of them say.

#[cfg(all(feature = "start", not(test)))]
mod dynamic_linker;
pub(crate) mod linked;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(target_os = "freebsd", path = "freebsd/mod.rs")]
mod system;

#[cfg(all(feature = "start", not(test)))]
pub(crate) use dynamic_linker::next_definition;
pub use system::*;
