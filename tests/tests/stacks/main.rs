//! Stacks: the calling contexts of samples, the unwinder that finds them, and the inclusive times that are measured by
//! them.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod contexts;
mod measured;
#[path = "../runtime/support.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod support;
mod unwind;
