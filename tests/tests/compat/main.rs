//! The runtime with each compiler, linker, link mode, C library, and machine that is available here, and installations.
//!
//! Combinations that this machine lacks are skipped with a message.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod aarch64;
mod builds;
mod core;
mod glibc;
mod installation;
mod installed;
mod kernels;
mod kit;
mod languages;
#[cfg(target_os = "linux")]
mod ld_profile;
mod linker_orders;
mod musl;
mod rust;
#[path = "../runtime/support.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod support;
mod wrapper;
