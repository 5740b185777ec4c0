//! The runtime with each compiler, linker, link mode, C library, and machine that is available here.
//!
//! Combinations that this machine lacks are skipped with a message.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod aarch64;
mod builds;
mod core;
mod glibc;
mod installed;
mod kernels;
mod kit;
mod musl;
mod rust;
#[path = "../runtime/support.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod support;
mod wrapper;
