//! The operating system's calls that the runtime needs: memory, threads, files. Each system has a folder. The
//! folders `unix` and `bsd` have files that several systems include by their paths. The symbols of the linker and
//! the functions of the dynamic linker are the same on all systems.

#[cfg(all(feature = "runtime", not(test)))]
mod dynamic_linker;
#[cfg_attr(feature = "preload", path = "loaded.rs")]
pub(crate) mod linked;
mod mapping;
pub(crate) mod program_header;
mod reserve;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(target_os = "freebsd", path = "freebsd/mod.rs")]
#[cfg_attr(target_os = "openbsd", path = "openbsd/mod.rs")]
mod system;

#[cfg(all(feature = "runtime", not(test)))]
pub(crate) use dynamic_linker::next_definition;
pub(crate) use mapping::Mapping;
pub(crate) use reserve::Reserve;
pub use system::*;
