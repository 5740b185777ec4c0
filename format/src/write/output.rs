//! Writes numbers to a file's bytes. All other writers use this module.

use alloc::vec::Vec;

use byteorder::{BigEndian, ByteOrder as _, LittleEndian};

use crate::encode::Sink;
use crate::{Counter, CounterWidth, Error, Order, Result, Word};

/// A file that is being written.
pub(crate) struct Output {
    bytes: Vec<u8>,
    word: Word,
    order: Order,
}

impl Output {
    /// Makes an empty file with memory for this many bytes.
    pub(crate) fn new(size: u64, word: Word, order: Order) -> Output {
        Output { bytes: Vec::with_capacity(usize::try_from(size).unwrap_or(0)), word, order }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes so far.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn offset(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn u16(&mut self, value: u16) {
        let mut field = [0; 2];
        match self.order {
            Order::Little => LittleEndian::write_u16(&mut field, value),
            Order::Big => BigEndian::write_u16(&mut field, value),
        }
        self.bytes(&field);
    }

    /// Writes the count of a bin, in the size of the counter.
    pub(super) fn bin(&mut self, bin: usize, count: i128, counter: Counter) -> Result<()> {
        let wide = Error::WideBin { bin, count, offset: self.offset() };
        let bits = counter_bits(count, counter).ok_or(wide)?;
        match counter.width {
            CounterWidth::Bits8 => self.bytes(&[bits as u8]),
            CounterWidth::Bits16 => self.u16(bits as u16),
            CounterWidth::Bits32 => self.u32(bits as u32),
            CounterWidth::Bits64 => self.u64(bits),
        }
        Ok(())
    }
}

impl Sink for Output {
    type Error = Error;

    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn u32(&mut self, value: u32) {
        let mut field = [0; 4];
        match self.order {
            Order::Little => LittleEndian::write_u32(&mut field, value),
            Order::Big => BigEndian::write_u32(&mut field, value),
        }
        self.bytes(&field);
    }

    fn u64(&mut self, value: u64) {
        let mut field = [0; 8];
        match self.order {
            Order::Little => LittleEndian::write_u64(&mut field, value),
            Order::Big => BigEndian::write_u64(&mut field, value),
        }
        self.bytes(&field);
    }

    fn word(&mut self, value: u64) -> Result<()> {
        match self.word {
            Word::W64 => self.u64(value),
            Word::W32 => {
                let narrow = u32::try_from(value);
                self.u32(narrow.map_err(|_| Error::WideAddress { address: value, offset: self.offset() })?);
            }
        }
        Ok(())
    }
}

/// The low bits of a count, if they fit the counter.
fn counter_bits(count: i128, counter: Counter) -> Option<u64> {
    if !counter.signed {
        let count = u64::try_from(count).ok()?;
        let most = match counter.width {
            CounterWidth::Bits8 => u64::from(u8::MAX),
            CounterWidth::Bits16 => u64::from(u16::MAX),
            CounterWidth::Bits32 => u64::from(u32::MAX),
            CounterWidth::Bits64 => u64::MAX,
        };
        return (count <= most).then_some(count);
    }
    let count = i64::try_from(count).ok()?;
    let range = match counter.width {
        CounterWidth::Bits8 => i64::from(i8::MIN)..=i64::from(i8::MAX),
        CounterWidth::Bits16 => i64::from(i16::MIN)..=i64::from(i16::MAX),
        CounterWidth::Bits32 => i64::from(i32::MIN)..=i64::from(i32::MAX),
        CounterWidth::Bits64 => i64::MIN..=i64::MAX,
    };
    range.contains(&count).then_some(count.cast_unsigned())
}
