//! Numbers and strings, of which the contents of parts consist.

use crate::encode::Sink;

/// The most bytes of one [`number`].
pub const LARGEST_NUMBER: usize = 10;

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

/// Writes a number with as many bytes as the largest has, so that a writer can later replace the number in place.
pub fn padded_number<S: Sink>(out: &mut S, value: u64) {
    let mut bytes = [0x80; LARGEST_NUMBER];
    let mut left = value;
    for byte in &mut bytes {
        *byte |= (left & 0x7f) as u8;
        left >>= 7;
    }
    if let Some(last) = bytes.last_mut() {
        *last &= 0x7f;
    }
    out.bytes(&bytes);
}

/// The number that [`number`] or [`padded_number`] wrote at the start of these bytes, and its size in bytes. `None` if
/// the number is not whole, or needs more than 64 bits.
#[must_use]
pub fn read_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (size, byte) in (1..).zip(bytes.iter().take(LARGEST_NUMBER)) {
        let bits = u64::from(byte & 0x7f);
        let shift = 7_u32.wrapping_mul(size as u32).wrapping_sub(7);
        let shifted = bits.wrapping_shl(shift);
        if shifted.wrapping_shr(shift) != bits {
            return None;
        }
        value |= shifted;
        if byte & 0x80 == 0 {
            return Some((value, size));
        }
    }
    None
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
    difference << 1 ^ (difference as i64).wrapping_shr(63) as u64
}

/// The difference of which [`zigzag`] made this number.
#[must_use]
pub const fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::super::piece::{Measure, Piece};
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
    fn numbers_come_back_in_any_size() {
        for value in [0, 1, 127, 128, 1 << 31, (1 << 63) - 1, 1 << 63, u64::MAX] {
            let mut buffer = [0xff; 24];
            let mut piece = Piece::new(&mut buffer);
            number(&mut piece, value);
            let size = piece.content().len();
            assert_eq!(read_number(piece.content()), Some((value, size)));
            for cut in 0..size {
                assert_eq!(read_number(&piece.content()[..cut]), None);
            }
            padded_number(&mut piece, value);
            assert_eq!(read_number(&piece.content()[size..]), Some((value, LARGEST_NUMBER)));
        }
        assert_eq!(read_number(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]), None);
        assert_eq!(read_number(&[0x80; 12]), None);
    }

    #[test]
    fn differences_come_back() {
        for (difference, expected) in [(0_i64, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1)] {
            assert_eq!(zigzag(difference as u64), expected);
        }
        for difference in [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 0x1234_5678_9abc_def0] {
            assert_eq!(unzigzag(zigzag(difference)), difference);
        }
    }
}
