//! The header of a side file, and what stands around the contents of parts.

use crate::encode::Sink;
use crate::layout::side_file::{ALIGNMENT, END, MAGIC, MAJOR, MINOR, Tag};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_at_a_multiple_of_eight() {
        assert_eq!([0, 1, 7, 8, 9].map(padding_size), [0, 7, 1, 0, 7]);
    }
}
