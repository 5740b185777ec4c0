//! Reads tagged files.

use super::images::{Images, List, Next};
use super::layout::{
    ARCS_ORDERS, DYLD_STATE, DYLD2_STATE, MAGIC_32, MAGIC_64, NEXT_DYLD_STATE, NEXT_RLD_STATE, RAWARCS, SAMPLES,
};
use crate::decode::bins;
use crate::decode::cursor::{Cursor, u32_of};
use crate::decode::{Decode, ImageCount, Result};
use crate::layout::GMONVERSION;
use crate::older_rust::is_multiple;
use crate::{Arc, Encoding, Error, Form, Histogram, Part, Record, Unit, Word};

/// Decodes a tagged file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaggedDecoder {
    form: Form,
    place: Place,
    images: ImageCount,
}

/// What is at the cursor.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The magic.
    Start,
    /// The head of a record, or the end of the file.
    Record,
    /// The inside of a record of arcs of which this many bytes are left.
    Arcs { left: u64, ordered: bool },
    /// The inside of a record that lists images.
    Images(Images),
}

impl Decode for TaggedDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        let start = cursor.offset();
        loop {
            match &mut self.place {
                Place::Start => {
                    check_magic(cursor)?;
                    self.place = Place::Record;
                }
                Place::Record if cursor.left() == 0 || cursor.must_stop(start) => return Ok(None),
                Place::Record => {
                    cursor.begin_record();
                    if let Some(histogram) = self.record(cursor)? {
                        return Ok(Some(Record::Histogram(histogram)));
                    }
                }
                Place::Arcs { left: 0, .. } => self.place = Place::Record,
                Place::Arcs { left, ordered } => {
                    *left = left.saturating_sub(arc_size(cursor.word_size(), *ordered));
                    return arc(cursor, *ordered).map(Some);
                }
                Place::Images(images) => match images.next(cursor)? {
                    Next::State if cursor.must_stop(start) => return Ok(None),
                    Next::State => {}
                    Next::Image(image) => {
                        self.images.count(cursor.offset())?;
                        return Ok(Some(Record::Image(image)));
                    }
                    Next::End => self.place = Place::Record,
                },
            }
        }
    }
}

impl TaggedDecoder {
    /// Makes a decoder of [`Form::Darwin`] or [`Form::Next`].
    pub(crate) fn new(encoding: Encoding) -> Result<TaggedDecoder> {
        let form = encoding.form;
        if form == Form::Next && encoding.word() == Word::W64 {
            return Err(Error::NoWideAddresses { form });
        }
        Ok(TaggedDecoder { form, place: Place::Start, images: ImageCount::default() })
    }

    /// Decodes the head of a record. The content of samples is decoded at once, that of other records later.
    fn record(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Histogram>> {
        let mut head = cursor.split(8, Part::Record)?;
        let type_offset = head.offset();
        let record_type = head.u32()?;
        let size = u64::from(head.u32()?);
        let ordered = record_type == ARCS_ORDERS;
        self.place = match (record_type, self.form) {
            (SAMPLES, _) => {
                return samples(cursor.split(size, Part::Samples)?, self.form);
            }
            (RAWARCS | ARCS_ORDERS, _) => {
                let arc = arc_size(cursor.word_size(), ordered);
                if !is_multiple(size, arc) {
                    let left = size.checked_rem(arc).unwrap_or(0);
                    let offset = cursor.offset().saturating_add(size.saturating_sub(left));
                    return Err(Error::PartialArc { left, size: arc, offset });
                }
                Place::Arcs { left: size, ordered }
            }
            (DYLD_STATE, Form::Darwin) => Place::Images(Images::new(cursor, size, List::Slides)?),
            (DYLD2_STATE, Form::Darwin) => Place::Images(Images::new(cursor, size, List::Headers)?),
            (NEXT_RLD_STATE, Form::Next) => Place::Images(Images::new(cursor, size, List::Files)?),
            (NEXT_DYLD_STATE, Form::Next) => Place::Images(Images::new(cursor, size, List::Slides)?),
            _ => return Err(Error::BadTag { tag: record_type, offset: type_offset }),
        };
        Ok(None)
    }
}

/// Checks that the magic is that of the word size.
fn check_magic(cursor: &mut Cursor<'_>) -> Result<()> {
    let expected = if cursor.word_size() == 8 { MAGIC_64 } else { MAGIC_32 };
    let magic = cursor.array()?;
    if u32_of(magic, cursor.order()) == expected { Ok(()) } else { Err(Error::BadMagic { magic }) }
}

/// Decodes the content of a record of samples. `None` for a histogram without range and bins.
fn samples(mut cursor: Cursor<'_>, form: Form) -> Result<Option<Histogram>> {
    let size = cursor.left();
    let words = (cursor.word_size() as u64).saturating_mul(2);
    // NeXT: two addresses, ncnt. Darwin: also version, profrate, and three spare words.
    let header_size = words.saturating_add(if form == Form::Next { 4 } else { 24 });
    let offset = cursor.offset();
    if header_size > size {
        let offset = offset.saturating_sub(4); // The size is before the content.
        return Err(Error::TooSmall { part: Part::Samples, size, least: header_size, offset });
    }
    let mut header = cursor.split(header_size, Part::Header)?;
    let (lowpc, highpc) = (header.word()?, header.word()?);
    let ncnt_offset = header.offset();
    let ncnt = u64::from(header.u32()?);
    let mut profrate = 0;
    if form == Form::Darwin {
        let version_offset = header.offset();
        let version = header.u32()?;
        if version != GMONVERSION as u32 {
            return Err(Error::BadVersion { version, offset: version_offset });
        }
        profrate = header.u32()?;
    }
    if ncnt != size {
        return Err(Error::WrongSize { part: Part::Samples, size: ncnt, expected: size, offset: ncnt_offset });
    }
    bins::histogram(lowpc..highpc, offset, Unit::seconds(profrate), cursor)
}

/// The size of an arc in bytes: two addresses and a 32-bit count. An order, or padding of 64-bit structures, follows.
fn arc_size(word_size: usize, ordered: bool) -> u64 {
    match (word_size, ordered) {
        (8, _) => 24,
        (_, true) => 16,
        (_, false) => 12,
    }
}

fn arc(cursor: &mut Cursor<'_>, ordered: bool) -> Result<Record> {
    let mut record = cursor.split(arc_size(cursor.word_size(), ordered), Part::Arc)?;
    let arc = Arc::new(record.word()?, record.word()?, u64::from(record.u32()?));
    Ok(if ordered { Record::OrderedArc { arc, order: record.u32()? } } else { Record::Arc(arc) })
}
