//! OpenBSD 7.8 and later, on amd64.

#[cfg(feature = "start")]
mod fork;
#[path = "x86_64/mod.rs"]
mod machine;
mod names;
#[cfg(feature = "start")]
mod notes;
#[cfg(feature = "start")]
mod start;
