//! Reads numbers from a file's bytes. All other readers use this module.

use byteorder::{BigEndian, ByteOrder as _, LittleEndian};

use crate::encode::side_file::read_number;
use crate::{Error, Order, Part, Result, SideFileError, Word};

/// A position in a range of the file. Nothing can be read past the end of the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// The offset of `bytes` in the file.
    offset: u64,
    /// The part of the file, for errors.
    part: Part,
    word: Word,
    order: Order,
}

impl<'a> Cursor<'a> {
    /// Makes a cursor at the start of a file.
    pub(crate) fn new(bytes: &'a [u8], word: Word, order: Order) -> Cursor<'a> {
        Cursor { bytes, offset: 0, part: Part::Header, word, order }
    }

    /// The offset of the cursor in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of bytes that are left.
    pub(crate) fn left(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn word_size(&self) -> usize {
        self.word.size()
    }

    /// All bytes that are left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.bytes
    }

    /// Skips all next whole chunks of `N` bytes for which `is_one` is true, and returns these chunks.
    pub(crate) fn pieces<const N: usize>(&mut self, is_one: impl Fn(&[u8; N]) -> bool) -> &'a [[u8; N]] {
        let (pieces, _) = self.bytes.as_chunks();
        let count = pieces.iter().take_while(|piece| is_one(piece)).count();
        let (pieces, _) = pieces.split_at_checked(count).unwrap_or_default();
        let length = pieces.as_flattened().len();
        self.bytes = self.bytes.get(length..).unwrap_or_default();
        self.offset = self.offset.saturating_add(length as u64);
        pieces
    }

    /// Skips `length` bytes, and returns a cursor for these bytes. The length is not trusted: it is first compared
    /// with the number of bytes that are left.
    pub(crate) fn split(&mut self, length: u64, part: Part) -> Result<Cursor<'a>> {
        let split = usize::try_from(length).ok().and_then(|length| self.bytes.split_at_checked(length));
        let Some((bytes, rest)) = split else {
            return Err(Error::Truncated { part, needed: length, left: self.left(), offset: self.offset });
        };
        let inner = Cursor { bytes, part, ..*self };
        self.bytes = rest;
        self.offset = self.offset.saturating_add(length);
        Ok(inner)
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let field = self.split(N as u64, self.part)?;
        match field.bytes.first_chunk() {
            Some(array) => Ok(*array),
            None => Err(Error::Truncated { part: self.part, needed: N as u64, left: 0, offset: field.offset }),
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        let order = self.order;
        Ok(u32_of(self.array()?, order))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        let order = self.order;
        Ok(u64_of(self.array()?, order))
    }

    /// Reads a number in LEB128. It may have useless bytes, up to a length of ten bytes: a writer may leave room for
    /// a larger number.
    pub(crate) fn number(&mut self) -> Result<u64> {
        if let Some((value, size)) = read_number(self.bytes) {
            self.split(size as u64, self.part)?;
            return Ok(value);
        }
        match self.left() {
            left @ 0..10 if self.bytes.iter().all(|byte| byte & 0x80 != 0) => {
                Err(Error::Truncated { part: self.part, needed: left.saturating_add(1), left, offset: self.offset })
            }
            _ => Err(SideFileError::WideNumber { offset: self.offset }.into()),
        }
    }

    /// Reads a number in LEB128, and then that many bytes.
    pub(crate) fn string(&mut self) -> Result<&'a [u8]> {
        let length = self.number()?;
        Ok(self.split(length, self.part)?.rest())
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        self.u32().map(u32::cast_signed)
    }

    /// Reads a number of the word size: an address, or a C `long`.
    pub(crate) fn word(&mut self) -> Result<u64> {
        let order = self.order;
        match self.word {
            Word::W32 => self.u32().map(u64::from),
            Word::W64 => Ok(u64_of(self.array()?, order)),
        }
    }

    /// Sets the byte order of the numbers that follow.
    pub(crate) fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    /// The byte order of numbers.
    pub(crate) fn order(&self) -> Order {
        self.order
    }
}

/// Reads a 16-bit number.
pub(crate) fn u16_of(bytes: [u8; 2], order: Order) -> u16 {
    match order {
        Order::Little => LittleEndian::read_u16(&bytes),
        Order::Big => BigEndian::read_u16(&bytes),
    }
}

/// Reads a 32-bit number.
pub(crate) fn u32_of(bytes: [u8; 4], order: Order) -> u32 {
    match order {
        Order::Little => LittleEndian::read_u32(&bytes),
        Order::Big => BigEndian::read_u32(&bytes),
    }
}

/// Reads a 64-bit number.
pub(crate) fn u64_of(bytes: [u8; 8], order: Order) -> u64 {
    match order {
        Order::Little => LittleEndian::read_u64(&bytes),
        Order::Big => BigEndian::read_u64(&bytes),
    }
}
