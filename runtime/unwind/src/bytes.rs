//! A cursor over the bytes of tables in the format of DWARF. No method panics.

/// Bytes that lie at an address, as the tables refer to themselves: the segment with `.eh_frame_hdr` and `.eh_frame`.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    /// The run-time address of the first byte.
    pub address: usize,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl<'a> Section<'a> {
    /// A cursor from an offset to the end of the section.
    #[must_use]
    pub fn at(self, offset: usize) -> Cursor<'a> {
        Cursor { rest: self.bytes.get(offset..).unwrap_or(&[]), address: self.address.wrapping_add(offset) }
    }
}

/// A position in a section, and the bytes up to the end to which it may go.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    /// The address of the next byte.
    address: usize,
}

/// Where a pointer's value counts from: the high bits of a pointer encoding (`DW_EH_PE_*`).
const PC_RELATIVE: u8 = 0x10;
const DATA_RELATIVE: u8 = 0x30;
const APPLICATION: u8 = 0xf0;
/// The encoding of a pointer that is not there.
pub(super) const OMITTED: u8 = 0xff;

impl<'a> Cursor<'a> {
    /// The address of the next byte.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }

    /// Whether no byte is left.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `length` bytes as a cursor of their own; this one continues behind them.
    pub fn split(&mut self, length: usize) -> Option<Cursor<'a>> {
        let (part, rest) = self.rest.split_at_checked(length)?;
        let part = Cursor { rest: part, address: self.address };
        *self = Cursor { rest, address: self.address.wrapping_add(length) };
        Some(part)
    }

    /// Skips `length` bytes; `None` if fewer are left.
    pub fn skip(&mut self, length: usize) -> Option<()> {
        self.split(length).map(drop)
    }

    /// The length of the string that begins here, which ends at a byte 0; the cursor continues behind that byte.
    pub fn string(&mut self) -> Option<usize> {
        let length = self.rest.iter().position(|byte| *byte == 0)?;
        self.skip(length + 1)?;
        Some(length)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let array = *self.rest.first_chunk()?;
        self.skip(N)?;
        Some(array)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// The next number of two bytes.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_ne_bytes)
    }

    /// The next number of four bytes.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_ne_bytes)
    }

    /// The next number of eight bytes.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_ne_bytes)
    }

    /// An unsigned LEB128 number. Bits beyond the 64th must be 0.
    pub fn uleb(&mut self) -> Option<u64> {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift < u64::BITS && bits << shift >> shift == bits {
                value |= bits << shift;
            } else if bits != 0 {
                return None;
            }
            shift = shift.saturating_add(7);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    /// A signed LEB128 number; bits beyond the 64th are ignored.
    pub(super) fn sleb(&mut self) -> Option<i64> {
        let mut value = 0;
        let mut shift: u32 = 0;
        loop {
            let byte = self.u8()?;
            if shift < i64::BITS {
                value |= i64::from(byte & 0x7f) << shift;
            }
            shift = shift.saturating_add(7);
            if byte & 0x80 == 0 {
                let is_negative = byte & 0x40 != 0 && shift < i64::BITS;
                return Some(if is_negative { value | -1 << shift } else { value });
            }
        }
    }

    /// A number in the format of a pointer encoding, without what the encoding counts from.
    pub(super) fn number(&mut self, encoding: u8) -> Option<usize> {
        let value = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => self.u64()? as usize,
            0x01 => self.uleb()? as usize,
            0x02 => self.u16()?.into(),
            0x03 => self.u32()? as usize,
            0x09 => self.sleb()? as usize,
            0x0a => self.u16()?.cast_signed() as usize,
            0x0b => self.u32()?.cast_signed() as usize,
            _ => return None,
        };
        Some(value)
    }

    /// An encoded pointer. `data` is the address that data-relative pointers count from. Other encodings, among them
    /// pointers to pointers, do not occur where this is used.
    pub(super) fn pointer(&mut self, encoding: u8, data: usize) -> Option<usize> {
        let place = self.address;
        let number = self.number(encoding)?;
        match encoding & APPLICATION {
            0 => Some(number),
            PC_RELATIVE => Some(number.wrapping_add(place)),
            DATA_RELATIVE => Some(number.wrapping_add(data)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(bytes: &[u8]) -> Cursor<'_> {
        Section { address: 0x1000, bytes }.at(0)
    }

    #[test]
    fn leb128_numbers_are_read() {
        for (bytes, value) in
            [(&[0x7f_u8][..], 127), (&[0x80, 1], 128), (&[0xe5, 0x8e, 0x26], 624_485), (&[0x80, 0], 0)]
        {
            assert_eq!(cursor(bytes).uleb(), Some(value));
        }
        assert_eq!(cursor(&[0xff; 9]).uleb(), None, "no end");
        assert_eq!(cursor(&[[0xff; 9].as_slice(), &[1]].concat()).uleb(), Some(u64::MAX));
        assert_eq!(cursor(&[[0xff; 9].as_slice(), &[2]].concat()).uleb(), None, "65 bits");
        for (bytes, value) in [(&[0x3f_u8][..], 63), (&[0x40], -64), (&[0x80, 0x7f], -128), (&[0xff, 0], 127)] {
            assert_eq!(cursor(bytes).sleb(), Some(value));
        }
        assert_eq!(cursor(&[[0x80; 9].as_slice(), &[0x7f]].concat()).sleb(), Some(i64::MIN));
    }

    #[test]
    fn pointers_count_from_where_their_encoding_says() {
        let bytes = [0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(cursor(&bytes).pointer(0x00, 0), Some(usize::MAX - 15));
        assert_eq!(cursor(&bytes).pointer(0x03, 0), Some(0xffff_fff0));
        assert_eq!(cursor(&bytes).pointer(0x0b, 0), Some(usize::MAX - 15));
        assert_eq!(cursor(&bytes).pointer(0x1b, 0), Some(0xff0), "at 0x1000");
        assert_eq!(cursor(&bytes).pointer(0x3b, 0x2000), Some(0x1ff0));
        assert_eq!(cursor(&bytes).pointer(0x1a, 0), Some(0xff0));
        assert_eq!(cursor(&bytes).pointer(0x9b, 0), None, "a pointer to a pointer");
        assert_eq!(cursor(&bytes[..3]).pointer(0x1b, 0), None);
    }

    #[test]
    fn a_part_ends_where_it_was_split() {
        let mut all = cursor(&[1, 2, 3]);
        let mut part = all.split(2).unwrap();
        assert_eq!([part.u8(), part.u8(), part.u8(), all.u8(), all.u8()], [Some(1), Some(2), None, Some(3), None]);
        assert!(all.split(usize::MAX).is_none());
    }

    #[test]
    fn strings_end_at_a_zero() {
        let mut all = cursor(b"ab\0\0c");
        assert_eq!([all.string(), all.string(), all.string(), all.string()], [Some(2), Some(0), None, None]);
        assert_eq!(all.u8(), Some(b'c'));
    }

    #[test]
    fn numbers_have_the_format_of_their_encoding() {
        let bytes = [0xfe, 0xff, 0x7f, 0, 0, 0, 0, 0];
        for (encoding, expected, left) in [
            (0x00, 0x7f_fffe, 0),
            (0x04, 0x7f_fffe, 0),
            (0x0c, 0x7f_fffe, 0),
            (0x01, 0x1f_fffe, 5),
            (0x02, 0xfffe, 6),
            (0x03, 0x7f_fffe, 4),
            (0x09, usize::MAX - 1, 5),
            (0x0a, usize::MAX - 1, 6),
            (0x0b, 0x7f_fffe, 4),
        ] {
            let mut cursor = cursor(&bytes);
            assert_eq!((cursor.number(encoding), cursor.rest.len()), (Some(expected), left), "{encoding:x}");
        }
        assert!([0x05, 0x08, 0x0f].iter().all(|encoding| cursor(&bytes).number(*encoding).is_none()));
    }
}
