//! The identity of the profiled program: its build ID, or a sum of its headers if it has no build ID, and its path.
//!
//! The list beside the profile contains the identity, and readers compare it with their image: a rebuilt program has
//! other functions at the same addresses.

use core::cell::UnsafeCell;

use super::names::NAME_SIZE;
use super::writer::Writer;
use crate::objects::program;
use crate::os::push_program_path;
use crate::text::{Digits, Text};

/// The longest build ID that is written.
const MOST_WORDS: usize = 64 / size_of::<u32>();

/// The path of the executable file.
struct Path(UnsafeCell<Text<NAME_SIZE>>);

// SAFETY: written once, at start-up, before any file is written.
unsafe impl Sync for Path {}

static PATH: Path = Path(UnsafeCell::new(Text::new()));

/// Remembers the path of the executable file, because the system may not reveal the path later.
///
/// # Safety
///
/// Call this only at start-up, once.
pub(crate) unsafe fn remember_program() {
    // SAFETY: the caller's promise.
    push_program_path(unsafe { &mut *PATH.0.get() });
}

impl Writer {
    /// Writes the line of a list that identifies the profiled program.
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
        // SAFETY: nothing writes the path after start-up.
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
