//! Encodes the parts of a side file without an allocator.
//!
//! docs/format.md describes the file. A writer writes the [`header`], then parts, then the [`end`]. The header of a
//! part has the length of its content, which a writer without an allocator learns in one of two ways:
//!
//! * A [`Piece`] collects items in a small buffer and writes a part each time the buffer is full. Lists may be split
//!   into any number of parts. This suits long lists, which other threads may be changing.
//! * [`Measure`] counts the bytes of a content. The writer then writes the part's header and encodes the content
//!   again. This suits single items that are longer than any buffer, such as paths.
//!
//! # Example
//!
//! A profiling runtime writes what it counted:
//!
//! ```
#![doc = include_str!("../../examples/side_file_writer.rs")]
//! ```

mod items;
mod piece;
mod place;

pub use items::{
    BinEncoder, CallEncoder, IdentityBytes, ObjectItem, ThreadItem, context, cut, mapping, object, property, thread,
    thread_of,
};
pub use piece::{Measure, Piece};
pub use place::{Call, CutReason, Place};

use super::Sink;
use crate::layout::side_file::{ALIGNMENT, END, MAGIC, MAJOR, MINOR, Tag};

/// The most bytes of one [`number`].
pub const LARGEST_NUMBER: usize = 10;
/// The most bytes of what stands before the items of a part of samples or of calls.
pub const LARGEST_HEAD: usize = 3 * LARGEST_NUMBER;
/// The most bytes of a bin.
pub const LARGEST_BIN: usize = 2 * LARGEST_NUMBER;
/// The most bytes of a call.
pub const LARGEST_CALL: usize = 5 * LARGEST_NUMBER;
/// The most bytes of a node of the tree of calling contexts.
pub const LARGEST_CONTEXT: usize = 4 * LARGEST_NUMBER;

/// The header of a side file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The size of an address of the program, 4 or 8 bytes.
    pub word_size: u8,
    /// The sink's byte order: [`LITTLE`](crate::layout::side_file::LITTLE) or
    /// [`BIG`](crate::layout::side_file::BIG).
    pub order: u8,
    /// 0 or [`LIVE`](crate::layout::side_file::LIVE).
    pub flags: u32,
    /// The length of the profile that the file belongs to; 0 if it belongs to none.
    pub profile_length: u64,
    /// The sum of the [marks](crate::layout::mark) of that many bytes of the profile.
    pub profile_sum: u64,
}

/// Writes the header of a side file.
pub fn header<S: Sink>(out: &mut S, header: &Header) {
    out.bytes(&MAGIC);
    out.bytes(&[MAJOR, MINOR, header.word_size, header.order]);
    out.u32(header.flags);
    out.u64(header.profile_length);
    out.u64(header.profile_sum);
}

/// Writes the header of a part. The content of `length` bytes follows, and then [`padding`].
pub fn part<S: Sink>(out: &mut S, tag: Tag, flags: u32, length: u64) {
    out.bytes(&tag);
    out.u32(flags);
    out.u64(length);
}

/// Writes the zeros after the content of a part.
pub fn padding<S: Sink>(out: &mut S, length: u64) {
    let zeros = [0; ALIGNMENT];
    out.bytes(zeros.get(..padding_size(length)).unwrap_or_default());
}

/// The number of zeros after a content.
#[must_use]
pub fn padding_size(length: u64) -> usize {
    length.wrapping_neg() as usize & ALIGNMENT.wrapping_sub(1)
}

/// Writes the last part. `sum` is the sum of the [marks](crate::layout::mark) of all bytes before.
pub fn end<S: Sink>(out: &mut S, sum: u64) {
    part(out, END, 0, size_of::<u64>() as u64);
    out.u64(sum);
}

/// Writes a number as unsigned LEB128: seven bits in each byte, the lowest first, and the highest bit set in all bytes
/// but the last.
pub fn number<S: Sink>(out: &mut S, value: u64) {
    let mut bytes = [0; LARGEST_NUMBER];
    let mut left = value;
    let mut used = 0_usize;
    for byte in &mut bytes {
        *byte = (left & 0x7f) as u8;
        left >>= 7;
        used = used.saturating_add(1);
        if left == 0 {
            break;
        }
        *byte |= 0x80;
    }
    out.bytes(bytes.get(..used).unwrap_or_default());
}

/// Writes a string: its length, then its bytes.
pub fn string<S: Sink>(out: &mut S, text: &[u8]) {
    number(out, text.len() as u64);
    out.bytes(text);
}

/// The difference of two addresses as a number that is small if the difference is: 0, -1, 1, -2 and so on are 0, 1,
/// 2, 3.
#[must_use]
pub const fn zigzag(difference: u64) -> u64 {
    difference << 1 ^ difference.cast_signed().wrapping_shr(63).cast_unsigned()
}

/// The difference of which [`zigzag`] made this number.
#[must_use]
pub const fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn numbers_and_their_sizes() {
        for (value, size) in [(0, 1), (127, 1), (128, 2), (1 << 14, 3), (u64::from(u32::MAX), 5), (u64::MAX, 10)] {
            let mut measure = Measure::default();
            number(&mut measure, value);
            assert_eq!(measure.length(), size, "{value:#x}");
        }
        let mut buffer = [0; 32];
        let mut piece = Piece::new(&mut buffer);
        number(&mut piece, 624_485);
        assert_eq!(piece.content(), [0xe5, 0x8e, 0x26], "the example of the DWARF standard");
    }

    #[test]
    fn differences_come_back() {
        for (difference, expected) in [(0_i64, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1)] {
            assert_eq!(zigzag(difference.cast_unsigned()), expected);
        }
        for difference in [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 0x1234_5678_9abc_def0] {
            assert_eq!(unzigzag(zigzag(difference)), difference);
        }
    }

    #[test]
    fn a_part_ends_at_a_multiple_of_eight() {
        assert_eq!([0, 1, 7, 8, 9].map(padding_size), [0, 7, 1, 0, 7]);
    }
}
