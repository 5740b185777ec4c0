//! Writes numbers to a file's bytes. The writers of all families use this module.

pub(crate) mod pieces;

use alloc::vec::Vec;

use byteorder::{BigEndian, ByteOrder as _, LittleEndian};

use crate::encode::Sink;
use crate::{Counter, CounterWidth, Error, Order, Word};

/// The number of bytes that are collected before the target gets them.
const PIECE: usize = 1 << 16;

/// Takes the bytes of a file in pieces.
pub(crate) trait Target {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Error>;
}

/// A file that is being written: in memory, or in pieces to a target.
pub(crate) struct Output<'t> {
    bytes: Vec<u8>,
    /// The number of bytes that the target has.
    taken: u64,
    target: Option<&'t mut dyn Target>,
    /// The first error of the target.
    failure: Option<Error>,
    word: Word,
    order: Order,
}

impl<'t> Output<'t> {
    /// Makes an empty file in memory.
    pub(crate) fn new(word: Word, order: Order) -> Output<'t> {
        Output { bytes: Vec::new(), taken: 0, target: None, failure: None, word, order }
    }

    /// Makes an empty file whose bytes go to a target.
    #[cfg(feature = "std")]
    pub(crate) fn to(target: &'t mut dyn Target, word: Word, order: Order) -> Output<'t> {
        Output { target: Some(target), ..Output::new(word, order) }
    }

    /// Gets memory for a file of this size, if the file stays in memory.
    pub(crate) fn reserve(&mut self, size: u64) {
        if self.target.is_none() {
            // Without so much memory, the file grows until a size does not fit its field.
            let _ = self.bytes.try_reserve(usize::try_from(size).unwrap_or(0));
        }
    }

    /// Returns the bytes of a file in memory. With a target, passes the bytes that the target does not have yet to the
    /// target.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, Error> {
        self.flush();
        self.failure.map_or(Ok(self.bytes), Err)
    }

    /// The bytes of a file in memory.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The error of the target, if the target has failed: then there is no reason to encode the rest of the file.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    fn flush(&mut self) {
        if let Some(target) = &mut self.target {
            if self.failure.is_none() {
                self.failure = target.take(&self.bytes).err();
            }
            self.taken = self.taken.saturating_add(self.bytes.len() as u64);
            self.bytes.clear();
        }
    }

    /// The bytes of a file in memory so far.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn offset(&self) -> u64 {
        self.taken.saturating_add(self.bytes.len() as u64)
    }

    pub(crate) fn word_size(&self) -> usize {
        self.word.size()
    }

    pub(crate) fn u16(&mut self, value: u16) {
        let mut field = [0; 2];
        match self.order {
            Order::Little => LittleEndian::write_u16(&mut field, value),
            Order::Big => BigEndian::write_u16(&mut field, value),
        }
        self.bytes(&field);
    }

    /// Writes this many zero bytes.
    pub(crate) fn zeros(&mut self, count: u64) {
        let zeros = [0; 256];
        let mut left = count;
        while left != 0 && self.failure.is_none() {
            let length = left.min(zeros.len() as u64);
            self.bytes(zeros.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default());
            left = left.saturating_sub(length);
        }
    }

    /// Writes the count of a bin, in the size of the counter.
    pub(crate) fn bin(&mut self, bin: u64, count: i128, counter: Counter) -> Result<(), Error> {
        self.check()?;
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

impl Sink for Output<'_> {
    type Error = Error;

    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= PIECE {
            self.flush();
        }
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

    fn word(&mut self, value: u64) -> Result<(), Error> {
        self.check()?;
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
    range.contains(&count).then_some(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target that fails. The error stands for any.
    struct Broken;

    impl Target for Broken {
        fn take(&mut self, _bytes: &[u8]) -> Result<(), Error> {
            Err(Error::NoHistogram)
        }
    }

    #[test]
    fn nothing_is_encoded_after_the_target_has_failed() {
        let mut target = Broken;
        let mut output = Output { target: Some(&mut target), ..Output::new(Word::W64, Order::Little) };
        let bins = (0..u64::MAX).take_while(|bin| output.bin(*bin, 1, Counter::U16).is_ok()).count();
        assert_eq!(bins, PIECE / 2);
        assert_eq!(output.word(1), Err(Error::NoHistogram));
        output.zeros(u64::MAX);
        assert_eq!(output.finish(), Err(Error::NoHistogram));
    }
}
