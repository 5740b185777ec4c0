//! The operating system's own calls, as far as the runtime needs them: memory, threads, files. One folder per system.

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
mod system;

pub use system::*;
