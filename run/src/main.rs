//! The program `gmon-run`. The library does all the work.
//!
//! Rust's own start-up code would open descriptors 0 to 2 if they are closed, and would ignore SIGPIPE: the program
//! would inherit both. So the C library calls `main` directly.
#![no_main]

use std::ffi::{c_char, c_int};

/// `main`, as the C library calls it.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    // SAFETY: the C library passes the number of words, and the words.
    gmon_run::main(unsafe { gmon_run::words(count, words) }).into()
}
