//! Reads numbers from a file's bytes. All other readers use this module.

use core::slice::ChunksExact;

use byteorder::{BigEndian, ByteOrder as _, LittleEndian};

use crate::encode::side_file::read_number;
use crate::{Error, Order, Part, Word};

/// The bytes end too early: a part of [`Error`] that is small enough for the inner loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Truncated {
    part: Part,
    needed: u64,
    left: u64,
    offset: u64,
}

impl From<Truncated> for Error {
    fn from(Truncated { part, needed, left, offset }: Truncated) -> Error {
        Error::Truncated { part, needed, left, offset }
    }
}

/// The number of bytes that a decoder should have in front of the cursor: more than most items have.
pub(crate) const LOOKAHEAD: usize = 256;

/// A position in a range of the file. Nothing can be read past the end of the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// The offset of `bytes` in the file.
    offset: u64,
    /// The offset in the file of the record that is being decoded.
    record: u64,
    /// The part of the file, for errors.
    part: Part,
    word: Word,
    order: Order,
    /// Whether the file may go on after `bytes`.
    may_go_on: bool,
}

impl<'a> Cursor<'a> {
    /// Makes a cursor at the start of a file.
    pub(crate) fn new(bytes: &'a [u8], word: Word, order: Order) -> Cursor<'a> {
        Cursor { bytes, offset: 0, record: 0, part: Part::Header, word, order, may_go_on: false }
    }

    /// The same cursor, for bytes that start at an offset in the file.
    pub(crate) fn starting_at(self, offset: u64) -> Cursor<'a> {
        Cursor { offset, ..self }
    }

    /// The same cursor, for a file that may go on after the bytes.
    pub(crate) fn going_on(self, may_go_on: bool) -> Cursor<'a> {
        Cursor { may_go_on, ..self }
    }

    /// The offset of the cursor in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Begins a record at the cursor.
    pub(crate) fn begin_record(&mut self) {
        self.record = self.offset;
    }

    /// The offset in the file of the record that was begun last. Only records of forms with several histograms are
    /// begun.
    pub(crate) fn record(&self) -> u64 {
        self.record
    }

    /// The number of bytes that are left.
    pub(crate) fn left(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The size of an address.
    pub(crate) fn word_kind(&self) -> Word {
        self.word
    }

    pub(crate) fn word_size(&self) -> usize {
        self.word.size()
    }

    /// Whether the file may go on after the bytes that are left.
    pub(crate) fn may_go_on(&self) -> bool {
        self.may_go_on
    }

    /// Whether a decoder that has skipped everything since the offset `start` must return without a record. The bytes
    /// may end inside the next item. If the decoder went on there, the caller would keep all skipped bytes in memory,
    /// and would decode these bytes again.
    pub(crate) fn must_stop(&self, start: u64) -> bool {
        self.may_go_on && self.offset != start && self.left() < LOOKAHEAD as u64
    }

    /// Checks that the next `length` bytes are in memory, if the file may have them.
    pub(crate) fn require(&self, length: u64, part: Part) -> Result<(), Truncated> {
        let left = self.left();
        if self.may_go_on && left < length {
            return Err(Truncated { part, needed: length, left, offset: self.offset });
        }
        Ok(())
    }

    /// All bytes that are left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.bytes
    }

    /// Skips all next whole chunks of `N` bytes for which `is_one` is true, and returns these chunks.
    pub(crate) fn pieces<const N: usize>(&mut self, is_one: impl Fn(&[u8; N]) -> bool) -> ChunksExact<'a, u8> {
        let pieces = self.bytes.chunks_exact(N);
        let count = pieces.take_while(|piece| piece.first_chunk().is_some_and(&is_one)).count();
        let (pieces, rest) = self.bytes.split_at_checked(count.saturating_mul(N)).unwrap_or_default();
        self.bytes = rest;
        self.offset = self.offset.saturating_add(pieces.len() as u64);
        pieces.chunks_exact(N)
    }

    /// Skips `length` bytes, and returns a cursor for these bytes. The length is not trusted: it is first compared
    /// with the number of bytes that are left.
    pub(crate) fn split(&mut self, length: u64, part: Part) -> Result<Cursor<'a>, Truncated> {
        let split = usize::try_from(length).ok().and_then(|length| self.bytes.split_at_checked(length));
        let Some((bytes, rest)) = split else {
            return Err(Truncated { part, needed: length, left: self.left(), offset: self.offset });
        };
        let inner = Cursor { bytes, part, ..*self };
        self.bytes = rest;
        self.offset = self.offset.saturating_add(length);
        Ok(inner)
    }

    /// Skips all bytes up to the end of the file, and returns a cursor for these bytes.
    pub(crate) fn split_to_end(&mut self, part: Part) -> Result<Cursor<'a>, Truncated> {
        if self.may_go_on {
            return Err(self.more(part));
        }
        self.split(self.left(), part)
    }

    /// Skips the bytes up to the next NUL, and that NUL.
    pub(crate) fn c_string(&mut self, part: Part) -> Result<(), Truncated> {
        match self.bytes.iter().position(|byte| *byte == 0) {
            Some(length) => self.split((length as u64).saturating_add(1), part).map(|_| ()),
            None => Err(self.more(part)),
        }
    }

    /// The error for bytes that end too early, where nothing but the next byte says whether more bytes are needed.
    fn more(&self, part: Part) -> Truncated {
        let left = self.left();
        Truncated { part, needed: left.saturating_add(1), left, offset: self.offset }
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Truncated> {
        let field = self.split(N as u64, self.part)?;
        match field.bytes.first_chunk() {
            Some(array) => Ok(*array),
            None => Err(Truncated { part: self.part, needed: N as u64, left: 0, offset: field.offset }),
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Truncated> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Truncated> {
        let order = self.order;
        Ok(u16_of(self.array()?, order))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Truncated> {
        let order = self.order;
        Ok(u32_of(self.array()?, order))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Truncated> {
        let order = self.order;
        Ok(u64_of(self.array()?, order))
    }

    /// Reads a number in LEB128. It may have useless bytes, up to a length of ten bytes: a writer may leave room for
    /// a larger number.
    pub(crate) fn number(&mut self) -> Result<u64, Error> {
        if let Some((value, size)) = read_number(self.bytes) {
            self.split(size as u64, self.part)?;
            return Ok(value);
        }
        match self.left() {
            0..10 if self.bytes.iter().all(|byte| byte & 0x80 != 0) => Err(self.more(self.part).into()),
            _ => Err(Error::WideNumber { offset: self.offset }),
        }
    }

    /// Reads a number in LEB128, and then that many bytes.
    pub(crate) fn string(&mut self) -> Result<&'a [u8], Error> {
        let length = self.number()?;
        Ok(self.split(length, self.part)?.rest())
    }

    /// Reads the bytes before the next NUL, which must be one of the next `limit` bytes, and skips the NUL.
    pub(crate) fn string_within(&mut self, limit: u64, part: Part) -> Result<&'a [u8], Error> {
        let within = usize::try_from(limit).ok().and_then(|limit| self.bytes.get(..limit)).unwrap_or(self.bytes);
        let Some(length) = within.iter().position(|byte| *byte == 0) else {
            return Err(match self.left() < limit {
                true => self.more(part).into(),
                false => Error::Unterminated { part, offset: self.offset },
            });
        };
        let string = self.split(length as u64, part)?;
        self.split(1, part)?;
        Ok(string.rest())
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Truncated> {
        Ok(self.u32()? as i32)
    }

    /// Reads a number of the word size: an address, or a C `long`.
    pub(crate) fn word(&mut self) -> Result<u64, Truncated> {
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
