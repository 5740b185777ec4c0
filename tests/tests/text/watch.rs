//! `gprof --watch` on the screen of a terminal, and as one table after the other.
//!
//! `script` makes the terminal. The program samples itself as often as the test tells it to, and every test waits for
//! what it expects, so the speed of the machine does not matter.
#![cfg(target_os = "linux")]

mod batch;
mod endings;
mod files;
mod keys;
mod kit;
