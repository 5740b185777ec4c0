//! OpenBSD 7.8 and later, on amd64.

mod exec;
#[cfg(feature = "start")]
mod fork;
#[path = "x86_64/mod.rs"]
mod machine;
mod names;
#[cfg(feature = "start")]
mod notes;
mod pledge;
#[cfg(feature = "start")]
mod settings;
#[cfg(feature = "start")]
mod start;
