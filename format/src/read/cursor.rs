//! The one way from a file's bytes to numbers.

use byteorder::{BigEndian, ByteOrder as _, LittleEndian};

use crate::{Error, Order, Part, Result, Word};

/// A place in a stretch of the file, whose end nothing can read past.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Where `bytes` starts in the file.
    offset: u64,
    /// What the bytes are, for errors.
    part: Part,
    word: Word,
    order: Order,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of a file.
    pub(crate) fn new(bytes: &'a [u8], word: Word, order: Order) -> Cursor<'a> {
        Cursor { bytes, offset: 0, part: Part::Header, word, order }
    }

    /// Where in the file the cursor is.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes there are to read.
    pub(crate) fn left(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn word_size(&self) -> usize {
        self.word.size()
    }

    /// All that is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.bytes
    }

    /// Steps over all whole pieces of `N` bytes that are next and that `is_one` is true of, and returns them.
    pub(crate) fn pieces<const N: usize>(&mut self, is_one: impl Fn(&[u8; N]) -> bool) -> &'a [[u8; N]] {
        let (pieces, _) = self.bytes.as_chunks();
        let count = pieces.iter().take_while(|piece| is_one(piece)).count();
        let (pieces, _) = pieces.split_at_checked(count).unwrap_or_default();
        let length = pieces.as_flattened().len();
        self.bytes = self.bytes.get(length..).unwrap_or_default();
        self.offset = self.offset.saturating_add(length as u64);
        pieces
    }

    /// Steps over `length` bytes and returns a cursor that is bounded by them. The length is not trusted: it is
    /// compared with what is left before anything else happens.
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

    pub(crate) fn i32(&mut self) -> Result<i32> {
        self.u32().map(u32::cast_signed)
    }

    /// A number of the word size: an address, or a C `long`.
    pub(crate) fn word(&mut self) -> Result<u64> {
        let order = self.order;
        match self.word {
            Word::W32 => self.u32().map(u64::from),
            Word::W64 => Ok(u64_of(self.array()?, order)),
        }
    }

    /// The byte order that numbers are read in.
    pub(crate) fn order(&self) -> Order {
        self.order
    }
}

/// A number of 16 bits.
pub(crate) fn u16_of(bytes: [u8; 2], order: Order) -> u16 {
    match order {
        Order::Little => LittleEndian::read_u16(&bytes),
        Order::Big => BigEndian::read_u16(&bytes),
    }
}

/// A number of 32 bits.
pub(crate) fn u32_of(bytes: [u8; 4], order: Order) -> u32 {
    match order {
        Order::Little => LittleEndian::read_u32(&bytes),
        Order::Big => BigEndian::read_u32(&bytes),
    }
}

/// A number of 64 bits.
pub(crate) fn u64_of(bytes: [u8; 8], order: Order) -> u64 {
    match order {
        Order::Little => LittleEndian::read_u64(&bytes),
        Order::Big => BigEndian::read_u64(&bytes),
    }
}
