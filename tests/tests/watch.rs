//! `gprof --watch` on the screen of a terminal, and as one table after the other.
//!
//! `script` makes the terminal. The program samples itself as often as the test tells it to, and every test waits for what
//! it expects, so the speed of the machine does not matter.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail as loudly as it does")]
#![cfg(target_os = "linux")]

#[path = "watch/batch.rs"]
mod batch;
#[path = "watch/endings.rs"]
mod endings;
#[path = "watch/files.rs"]
mod files;
#[path = "watch/keys.rs"]
mod keys;
#[path = "watch/kit.rs"]
mod kit;
