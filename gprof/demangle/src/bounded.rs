//! A string with a maximum length.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Error, Result, Write};

/// A string with a maximum length. A piece that does not fit ends the writing with an error.
pub(super) struct Bounded {
    text: String,
    max_length: usize,
}

impl Bounded {
    /// Makes an empty string with memory for `expected` bytes.
    pub(super) fn new(expected: usize, max_length: usize) -> Bounded {
        Bounded { text: String::with_capacity(expected.min(max_length)), max_length }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }
}

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> Result {
        if self.text.len().saturating_add(more.len()) > self.max_length {
            return Err(Error);
        }
        self.text.push_str(more);
        Ok(())
    }
}
