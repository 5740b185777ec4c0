//! The profile of a shared object that the run-time linker of Solaris and illumos writes: a header, 16-bit samples, and
//! slots for arcs. All addresses count from the start of the object.

#[cfg(test)]
mod tests;

use alloc::vec;

use super::family::{Family, Named, Sign};
use crate::decode::bins;
use crate::decode::cursor::{Cursor, u32_of};
use crate::decode::{Decode, Result, Trailing};
use crate::detection::Detection;
use crate::detection::candidates::ORDERS;
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::encode::{Sink as _, pieces};
use crate::output::Output;
use crate::output::pieces::{Repeats, only_histogram, piece_count, write_bins};
use crate::{
    Arc, Counter, DataModel, Encoding, Error, Form, Hints, Histogram, Order, Part, Profile, Record, Unit, Word,
};

/// The first word of the run-time linker's profile (`PRF_MAGIC`).
const RTLD_MAGIC: u32 = 0xffff_ffff;
/// The version of the run-time linker's profile with 32-bit addresses.
const RTLD_VERSION_32: u32 = 1;
/// The version of the run-time linker's profile with 64-bit addresses.
const RTLD_VERSION_64: u32 = 2;
/// The size of the lock in the header of the run-time linker's profile (`lwp_mutex_t`) in bytes.
const RTLD_LOCK_SIZE: u64 = 24;

/// The form of the run-time linker.
pub(crate) struct Rtld;

impl Family for Rtld {
    const FORMS: &'static [Named] =
        &[Named::new(Form::IllumosRtld, "illumos-rtld", "illumos run-time linker").of(&["Solaris"])];
    const SIGN: Sign = Sign::Magic;

    type Decoder = RtldDecoder;

    fn decoder(_encoding: Encoding) -> Result<RtldDecoder> {
        Ok(RtldDecoder::new())
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        let (model, order, version) = ORDERS.into_iter().find_map(|order| version(file.start(), order))?;
        let is_hinted = hints.word().is_none_or(|word| word == model.word());
        if !is_hinted || hints.order().is_some_and(|hint| hint != order) {
            return None;
        }
        let magic = file.start().first_chunk().copied().unwrap_or_default();
        let evidence = vec![Evidence::Magic { magic }, Evidence::Version { version, offset: 4, order }];
        Some(Ok(Detection::new(Encoding { form: Form::IllumosRtld, model, order }, evidence)))
    }

    fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write(profile, encoding, repeat_limit, output)
    }
}

/// The data model according to the version, which must follow the magic in this byte order.
fn version(start: &[u8], order: Order) -> Option<(DataModel, Order, u32)> {
    let mut cursor = Cursor::new(start, Word::W64, order);
    let (magic, version) = (cursor.u32().ok()?, cursor.u32().ok()?);
    let model = match version {
        RTLD_VERSION_32 => DataModel::Ilp32,
        RTLD_VERSION_64 => DataModel::Lp64,
        _ => return None,
    };
    (magic == RTLD_MAGIC).then_some((model, order, version))
}

/// Decodes the profile of a shared object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RtldDecoder {
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

impl Decode for RtldDecoder {
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

impl RtldDecoder {
    fn new() -> RtldDecoder {
        RtldDecoder { place: Place::Start, trailing: Trailing::default() }
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
            _ => return Err(Error::WrongSize { part: Part::File, size: file_size, expected, offset }),
        }
        Ok(Header { highpc, range_offset, samples_size, slots })
    }
}

/// Checks that magic and version are those of the word size.
fn check_version(header: &mut Cursor<'_>) -> Result<()> {
    let magic = header.array()?;
    if u32_of(magic, header.order()) != RTLD_MAGIC {
        return Err(Error::BadMagic { magic });
    }
    let offset = header.offset();
    let version = header.u32()?;
    let expected = if header.word_size() == 8 { RTLD_VERSION_64 } else { RTLD_VERSION_32 };
    if version == expected { Ok(()) } else { Err(Error::BadVersion { version, offset }) }
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

/// Writes a profile whose addresses count from the start of the object. A caller at address 0 becomes a caller outside
/// the object.
fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
    let histogram = only_histogram(profile)?;
    if let Some(lowpc) = histogram.map(Histogram::lowpc).filter(|lowpc| *lowpc != 0) {
        return Err(Error::NotRelative { lowpc });
    }
    let is_wide = encoding.word() == Word::W64;
    let (header, slot, outside) = if is_wide { (56, 24, u64::MAX) } else { (52, 16, u64::from(u32::MAX)) };
    let most = u64::from(u32::MAX);
    let (mut slots, mut repeats) = (0_u64, Repeats::new(repeat_limit));
    // An arc without calls is no information: readers cannot tell it from a slot that is not used.
    let arcs = || profile.arcs().iter().filter(|arc| arc.count != 0);
    for arc in arcs() {
        // The two highest addresses stand for callers outside the object, and for unknown callers.
        if arc.frompc == outside || arc.frompc == outside.saturating_sub(1) {
            return Err(Error::ReservedAddress { address: arc.frompc });
        }
        let count = piece_count(arc.count, most);
        repeats.count(count, slot)?;
        slots = slots.saturating_add(count);
    }
    let samples = histogram.map_or(0, Histogram::len).saturating_mul(2);
    let size = slots.saturating_mul(slot).saturating_add(samples).saturating_add(header);
    let field = |size| u32::try_from(size).map_err(|_| Error::TooLarge { part: Part::File, size, limit: most });
    let size = field(size)?;
    output.u32(RTLD_MAGIC);
    output.u32(if is_wide { RTLD_VERSION_64 } else { RTLD_VERSION_32 });
    output.bytes(&[0; RTLD_LOCK_SIZE as usize]);
    output.word(histogram.map_or(0, Histogram::highpc))?;
    for field in [field(samples)?, size, field(slots)?, field(slots)?] {
        output.u32(field);
    }
    if let Some(histogram) = histogram {
        write_bins(output, histogram, Counter::U16)?;
    }
    for arc in arcs() {
        for count in pieces(arc.count, most) {
            output.word(if arc.frompc == 0 { outside } else { arc.frompc })?;
            output.word(arc.selfpc)?;
            output.u32(count as u32);
            output.u32(0); // The next slot of the hash chain, which is for the run-time linker.
        }
    }
    Ok(())
}
