//! Reads PROF files.

use alloc::vec::Vec;

use super::layout::{BUFFER, BUFFER_SIZE, CALL_GRAPH, DUMMY, MODULES, PROF_HEADER_SIZE, PROF_MAGIC, PROF_MAJOR};
use super::object::{Calls, Link, Modules, Object};
use crate::decode::cursor::{Cursor, u32_of, u64_of};
use crate::decode::{Decode, ImageCount, Result};
use crate::older_rust::arrays;
use crate::{Bins, Error, Histogram, Part, Record, Unit};

/// Decodes a file of objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProfDecoder {
    place: Place,
    images: ImageCount,
}

/// What is at the cursor. An object with several records stays at the cursor until its last record is decoded,
/// because its parts may be in any order.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The header of the file.
    Start,
    /// The head of an object, or the end of the file.
    Object,
    /// An object of calls.
    Calls(Calls),
    /// An object of modules.
    Modules(Modules),
}

impl Decode for ProfDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        let start = cursor.offset();
        loop {
            let (object, record) = match &mut self.place {
                Place::Start => {
                    check_header(cursor)?;
                    self.place = Place::Object;
                    continue;
                }
                Place::Object if cursor.left() == 0 || cursor.must_stop(start) => return Ok(None),
                Place::Object => {
                    cursor.begin_record();
                    let object = Object::read(*cursor)?;
                    self.place = match object.object_type {
                        CALL_GRAPH => Place::Calls(Calls::new(&object)?),
                        MODULES => Place::Modules(Modules::new(&object)?),
                        _ => {
                            let histogram = histogram(&object)?;
                            object.skip(cursor)?;
                            match histogram {
                                Some(histogram) => return Ok(Some(Record::Histogram(histogram))),
                                None => continue,
                            }
                        }
                    };
                    continue;
                }
                Place::Calls(calls) => {
                    let object = Object::read(*cursor)?;
                    let arc = calls.next(&object)?;
                    (object, arc.map(Record::Arc))
                }
                Place::Modules(modules) => {
                    let object = Object::read(*cursor)?;
                    let image = modules.next(&object)?;
                    if image.is_some() {
                        self.images.count(object.offset().saturating_add(object.size()))?;
                    }
                    (object, image.map(Record::Image))
                }
            };
            if record.is_some() {
                return Ok(record);
            }
            object.skip(cursor)?;
            self.place = Place::Object;
        }
    }
}

impl ProfDecoder {
    pub(crate) fn new() -> ProfDecoder {
        ProfDecoder { place: Place::Start, images: ImageCount::default() }
    }
}

/// Checks the header of the file, and skips everything before the first object.
fn check_header(cursor: &mut Cursor<'_>) -> Result<()> {
    let mut header = cursor.split(PROF_HEADER_SIZE, Part::Header)?;
    let magic = header.array()?;
    if u32_of(magic, cursor.order()) != PROF_MAGIC {
        return Err(Error::BadMagic { magic });
    }
    let offset = header.offset();
    let major = header.u16()?;
    if major > PROF_MAJOR {
        return Err(Error::BadVersion { version: u32::from(major), offset });
    }
    header.u16()?; // The minor version.
    let offset = header.offset();
    let size = header.u64()?;
    let Some(rest) = size.checked_sub(PROF_HEADER_SIZE) else {
        return Err(Error::TooSmall { part: Part::Header, size, least: PROF_HEADER_SIZE, offset });
    };
    cursor.split(rest, Part::Header)?;
    Ok(())
}

/// The samples of an object that has neither calls nor modules. Each sample is a program counter: a histogram of all
/// addresses with one bin for each byte. `None` for an object without samples.
fn histogram(object: &Object<'_>) -> Result<Option<Histogram>> {
    match object.object_type {
        BUFFER => {}
        DUMMY => return Ok(None),
        value => return Err(Error::BadTag { tag: value, offset: object.offset() }),
    }
    let mut fixed = object.fixed(BUFFER_SIZE)?;
    let start = Link::read(&mut fixed)?;
    let samples = fixed.u64()?;
    let samples = object.at(start, samples.saturating_mul(8), Part::Samples)?;
    let (offset, order) = (samples.offset(), samples.order());
    let mut pcs: Vec<u64> = arrays(samples.rest()).map(|pc| u64_of(pc, order)).collect();
    // The range of a histogram ends before the highest address.
    if let Some(at) = pcs.iter().position(|pc| *pc == u64::MAX) {
        let offset = offset.saturating_add((at as u64).saturating_mul(8));
        return Err(Error::BadAddress { address: u64::MAX, offset });
    }
    pcs.sort_unstable();
    let bins = || pcs.chunk_by(|one, other| one == other);
    let mut counts = Vec::with_capacity(bins().count());
    counts.extend(bins().filter_map(|equal| equal.first().map(|pc| (*pc, equal.len() as u64))));
    if counts.is_empty() {
        return Ok(None);
    }
    // The file does not say how many samples there are in a second.
    Ok(Histogram::new(0..u64::MAX, Unit::seconds(0), Bins::Sparse { bins: u64::MAX, counts }).ok())
}
