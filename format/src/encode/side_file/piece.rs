//! Sinks that stand between the encoders and a file, because the length of a content comes before the content.

use core::convert::Infallible;

use super::parts::{padding, part};
use crate::encode::Sink;
use crate::layout::side_file::Tag;

/// Counts bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    length: u64,
}

impl Measure {
    /// The number of bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl Sink for Measure {
    type Error = Infallible;

    fn bytes(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len() as u64);
    }
}

/// Collects items for one part in a buffer.
///
/// Before each item, ask [`has_room`](Self::has_room) with the item's largest size, and [`flush`](Self::flush) if
/// there is none.
#[derive(Debug)]
pub struct Piece<'a> {
    buffer: &'a mut [u8],
    used: usize,
    overflowed: bool,
}

impl<'a> Piece<'a> {
    /// Makes an empty piece.
    #[must_use]
    pub fn new(buffer: &'a mut [u8]) -> Piece<'a> {
        Piece { buffer, used: 0, overflowed: false }
    }

    /// Whether an item of this size fits.
    #[must_use]
    pub fn has_room(&self, size: usize) -> bool {
        self.buffer.len().saturating_sub(self.used) >= size
    }

    /// The bytes of the items.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        self.buffer.get(..self.used).unwrap_or_default()
    }

    /// Writes the items as a part, if there are any, and empties the piece. The result is false, and nothing is
    /// written, if items did not fit.
    #[must_use]
    pub fn flush<S: Sink>(&mut self, out: &mut S, tag: Tag) -> bool {
        self.flush_with(out, tag, 0)
    }

    /// Writes the items as [`flush`](Self::flush) does, as a part with these flags.
    #[must_use]
    pub fn flush_with<S: Sink>(&mut self, out: &mut S, tag: Tag, flags: u32) -> bool {
        let is_whole = !self.overflowed;
        let content = self.content();
        if is_whole && !content.is_empty() {
            let length = content.len() as u64;
            part(out, tag, flags, length);
            out.bytes(content);
            padding(out, length);
        }
        self.used = 0;
        self.overflowed = false;
        is_whole
    }
}

impl Sink for Piece<'_> {
    type Error = Infallible;

    fn bytes(&mut self, bytes: &[u8]) {
        let end = self.used.saturating_add(bytes.len());
        match self.buffer.get_mut(self.used..end) {
            // Without `copy_from_slice`, which contains code that can panic.
            Some(room) => {
                room.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
                self.used = end;
            }
            None => self.overflowed = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_is_too_small_writes_nothing() {
        let mut buffer = [0; 4];
        let mut piece = Piece::new(&mut buffer);
        let mut out = Measure::default();
        assert!(piece.flush(&mut out, *b"TEST") && out.length() == 0, "nothing is no part");
        piece.bytes(b"abc");
        assert!(piece.has_room(1) && !piece.has_room(2));
        piece.bytes(b"de");
        assert!(!piece.flush(&mut out, *b"TEST") && out.length() == 0);
        piece.bytes(b"abcd");
        assert!(piece.flush(&mut out, *b"TEST"));
        assert_eq!(out.length(), 16 + 8);
    }
}
