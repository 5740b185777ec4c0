//! Which program was profiled: its build ID, or without one a sum of its headers; and its path.
//!
//! The list beside the profile says so, and readers compare this with the image that they are given: a program that was
//! rebuilt has other functions at the same addresses.

use core::cell::UnsafeCell;

use super::names::NAME_SIZE;
use super::writer::Writer;
use crate::objects::program;
use crate::os::push_program_path;
use crate::text::{Digits, Text};

/// The longest build ID that is told.
const MOST_WORDS: usize = 64 / size_of::<u32>();

/// The path of the executable file.
struct Path(UnsafeCell<Text<NAME_SIZE>>);

// SAFETY: written once, at start-up, before anything can be written to a file.
unsafe impl Sync for Path {}

static PATH: Path = Path(UnsafeCell::new(Text::new()));

/// Remembers where the executable file is, because the system may not say so later.
///
/// # Safety
///
/// Only at start-up, once.
pub(crate) unsafe fn remember_program() {
    // SAFETY: the caller's promise.
    push_program_path(unsafe { &mut *PATH.0.get() });
}

impl Writer {
    /// The line of a list that says which program was profiled.
    pub(super) fn program(&mut self) {
        self.put(b"program ");
        match program::build_id() {
            Some(words) if (1..=MOST_WORDS).contains(&words.len()) => {
                words.iter().for_each(|word| self.hexadecimal(u64::from(u32::from_be_bytes(word.to_ne_bytes())), 8));
            }
            _ => {
                self.put(b"headers:");
                self.hexadecimal(program::layout_sum(), 16);
            }
        }
        self.put(b" ");
        // SAFETY: nothing writes it after start-up.
        let path = unsafe { &*PATH.0.get() }.as_bytes();
        self.put(if path.is_empty() { b"-" } else { b"" });
        path.iter().for_each(|byte| self.put(if *byte == b'\n' { b"\\012" } else { core::slice::from_ref(byte) }));
        self.put(b"\n");
    }

    #[inline(never)]
    fn hexadecimal(&mut self, number: u64, digits: u32) {
        let mut text = Digits::new();
        text.push_hexadecimal(number, digits);
        self.put(text.as_bytes());
    }
}
