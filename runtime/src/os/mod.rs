//! The operating system's calls that the runtime needs: memory, threads, files. Each system has a folder.

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
mod system;

pub use system::*;
