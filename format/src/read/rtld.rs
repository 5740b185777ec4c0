//! Reads the profile of a shared object that the run-time linker of Solaris and illumos writes: a header, 16-bit
//! samples, and slots for arcs. All addresses count from the start of the object.

use super::Result;
use super::bins;
use super::cursor::{Cursor, u32_of};
use super::decode::Decode;
use super::trailing::Trailing;
use crate::layout::illumos::{RTLD_LOCK_SIZE, RTLD_MAGIC, RTLD_VERSION_32, RTLD_VERSION_64};
use crate::{Arc, Part, ReadError, Record, Unit};

/// Decodes the profile of a shared object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtld {
    place: Place,
    trailing: Trailing,
}

/// What is at the cursor.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The header.
    Start,
    /// This number of slots for arcs, then the end of the file.
    Slots(u32),
}

impl Decode for Rtld {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        let start = cursor.offset();
        if let Place::Start = self.place {
            let header = Header::read(cursor)?;
            let samples = cursor.split(header.samples_size, Part::Samples)?;
            self.place = Place::Slots(header.slots);
            // The file does not say how many samples there are in a second.
            if let Some(histogram) = bins::histogram(0..header.highpc, header.range_offset, Unit::seconds(0), samples)?
            {
                return Ok(Some(Record::Histogram(histogram)));
            }
        }
        while let Place::Slots(slots @ 1..) = self.place {
            self.place = Place::Slots(slots.saturating_sub(1));
            if let Some(arc) = arc(cursor)? {
                return Ok(Some(Record::Arc(arc)));
            }
            if cursor.must_stop(start) {
                return Ok(None);
            }
        }
        self.trailing.next(cursor)
    }
}

impl Rtld {
    pub(crate) fn new() -> Rtld {
        Rtld { place: Place::Start, trailing: Trailing::default() }
    }
}

/// The content of a valid header.
struct Header {
    highpc: u64,
    /// The offset of `highpc` in the file.
    range_offset: u64,
    /// The size of the samples in bytes.
    samples_size: u64,
    /// The number of slots for arcs.
    slots: u32,
}

impl Header {
    fn read(cursor: &mut Cursor<'_>) -> Result<Header> {
        let word_size = cursor.word_size() as u64;
        // Magic, version, lock, an address, four 32-bit numbers.
        let size = RTLD_LOCK_SIZE.saturating_add(24).saturating_add(word_size);
        let mut header = cursor.split(size, Part::Header)?;
        check_version(&mut header)?;
        header.split(RTLD_LOCK_SIZE, Part::Header)?;
        let range_offset = header.offset();
        let highpc = header.word()?;
        let samples_size = u64::from(header.u32()?);
        let offset = header.offset();
        let file_size = u64::from(header.u32()?);
        header.u32()?; // The number of slots that have been used.
        let slots = header.u32()?;
        let slots_size = u64::from(slots).saturating_mul(slot_size(word_size));
        let expected = size.saturating_add(samples_size).saturating_add(slots_size);
        // Where the lock is aligned to eight bytes and an address has four, the header ends with padding.
        match file_size.checked_sub(expected) {
            Some(0) => {}
            Some(padding @ 4) if word_size == 4 => {
                cursor.split(padding, Part::Header)?;
            }
            _ => return Err(ReadError::WrongSize { part: Part::File, size: file_size, expected, offset }),
        }
        Ok(Header { highpc, range_offset, samples_size, slots })
    }
}

/// Checks that magic and version are those of the word size.
fn check_version(header: &mut Cursor<'_>) -> Result<()> {
    let magic = header.array()?;
    if u32_of(magic, header.order()) != RTLD_MAGIC {
        return Err(ReadError::BadMagic { magic });
    }
    let offset = header.offset();
    let version = header.u32()?;
    let expected = if header.word_size() == 8 { RTLD_VERSION_64 } else { RTLD_VERSION_32 };
    if version == expected { Ok(()) } else { Err(ReadError::BadVersion { version, offset }) }
}

/// The size of a slot in bytes: two addresses, a count, and the index of the next slot of a hash chain.
fn slot_size(word_size: u64) -> u64 {
    word_size.saturating_mul(2).saturating_add(8)
}

/// Decodes a slot. `None` if no call was counted in the slot.
fn arc(cursor: &mut Cursor<'_>) -> Result<Option<Arc>> {
    let word_size = cursor.word_size();
    let mut slot = cursor.split(slot_size(word_size as u64), Part::Arc)?;
    let (from, to) = (slot.word()?, slot.word()?);
    let count = u64::from(slot.u32()?);
    // The two highest addresses stand for callers outside the object and for unknown callers.
    let unknown = if word_size == 8 { u64::MAX - 1 } else { u64::from(u32::MAX - 1) };
    let frompc = if from < unknown { from } else { 0 };
    Ok((count != 0).then_some(Arc::new(frompc, to, count)))
}

#[cfg(test)]
mod tests;
