//! Reads what glibc's dynamic linker writes for `LD_PROFILE`: one histogram, then a table of arcs with room for more.

use core::ops::Range;

use super::layout::LdProfileSizes;
use crate::decode::bins;
use crate::decode::cursor::Cursor;
use crate::decode::{Decode, Result, Trailing};
use crate::layout::{GNU_HEADER_SIZE, GNU_MAGIC, LD_PROFILE_VERSION};
use crate::{Arc, Dimension, Error, Histogram, Part, Record, Unit};

/// The state of the reader.
#[derive(Clone, Default)]
pub(crate) enum LdProfileDecoder {
    /// At the header.
    #[default]
    Start,
    /// At an arc, or after the last one.
    Arcs {
        /// The addresses of the histogram. Those of arcs are relative to its start.
        range: Range<u64>,
        /// The number of arcs that are left.
        left: u64,
        /// The slots that follow the arcs.
        unused: Unused,
        trailing: Trailing,
    },
}

/// The slots of the table that no arc uses: most of the file.
#[derive(Clone)]
pub(crate) struct Unused {
    /// The size in bytes.
    size: u64,
    /// The number of bytes that were skipped.
    skipped: u64,
}

impl Decode for LdProfileDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        let start = cursor.offset();
        let (range, left, unused, trailing) = match self {
            LdProfileDecoder::Arcs { range, left, unused, trailing } => (range, left, unused, trailing),
            LdProfileDecoder::Start => {
                let Table { histogram, counted_arcs, sizes } = Table::read(cursor)?;
                let left = counted_arcs.min(sizes.most_arcs);
                let unused = Unused { size: sizes.arcs.saturating_sub(left.saturating_mul(sizes.arc)), skipped: 0 };
                let (range, trailing) = (histogram.range(), Trailing::default());
                *self = LdProfileDecoder::Arcs { range, left, unused, trailing };
                return Ok(Some(Record::Histogram(histogram)));
            }
        };
        while *left != 0 {
            let arc = arc(cursor, range)?;
            *left = left.saturating_sub(1);
            // The linker reserves a slot before it counts the first call.
            if arc.count != 0 {
                return Ok(Some(Record::Arc(arc)));
            }
            if cursor.must_stop(start) {
                return Ok(None);
            }
        }
        if unused.skip(cursor)? { trailing.next(cursor) } else { Ok(None) }
    }
}

impl Unused {
    /// Skips the known bytes of the slots. Returns whether that was all of them.
    fn skip(&mut self, cursor: &mut Cursor<'_>) -> Result<bool> {
        let known = self.size.saturating_sub(self.skipped).min(cursor.left());
        cursor.split(known, Part::Arcs)?;
        self.skipped = self.skipped.saturating_add(known);
        if self.skipped == self.size || cursor.may_go_on() {
            return Ok(self.skipped == self.size);
        }
        let (needed, left) = (self.size, self.skipped);
        Err(Error::Truncated { part: Part::Arcs, needed, left, offset: cursor.offset().saturating_sub(left) })
    }
}

/// What comes before the arcs.
struct Table {
    histogram: Histogram,
    /// The number of arcs that were counted, which exceeds the size of the table if processes found the table full.
    counted_arcs: u64,
    sizes: LdProfileSizes,
}

impl Table {
    /// Reads the header, the histogram, and the number of arcs. The cursor stops at the first arc.
    fn read(cursor: &mut Cursor<'_>) -> Result<Table> {
        check_header(cursor)?;
        tag(cursor, 0, Part::Histogram)?;
        let word = cursor.word_size() as u64;
        let mut head = cursor.split(word.saturating_mul(2).saturating_add(24), Part::Histogram)?;
        let offset = head.offset();
        let (lowpc, highpc) = (head.word()?, head.word()?);
        let (bins, profrate) = (u64::from(head.u32()?), head.u32()?);
        let unit = Unit { profrate, dimension: Dimension::from_field(head.array()?), abbrev: head.u8()? };
        let Some(span) = highpc.checked_sub(lowpc) else {
            return Err(Error::BadRange { lowpc, highpc, offset });
        };
        let sizes = LdProfileSizes::new(span, cursor.word_kind());
        if bins != sizes.bins {
            return Err(Error::OtherBins { bins, needed: sizes.bins, range: lowpc..highpc, offset });
        }
        let samples = cursor.split(bins.saturating_mul(2), Part::Histogram)?;
        let histogram = bins::histogram(lowpc..highpc, offset, unit, samples)?;
        let histogram = histogram.ok_or(Error::NoBins { range: lowpc..highpc, offset })?;
        tag(cursor, 1, Part::Arcs)?;
        let counted_arcs = u64::from(cursor.split(4, Part::Arcs)?.u32()?);
        Ok(Table { histogram, counted_arcs, sizes })
    }
}

fn check_header(cursor: &mut Cursor<'_>) -> Result<()> {
    let mut header = cursor.split(GNU_HEADER_SIZE as u64, Part::Header)?;
    let magic = header.array()?;
    if magic != GNU_MAGIC {
        return Err(Error::BadMagic { magic });
    }
    let offset = header.offset();
    match header.u32()? {
        LD_PROFILE_VERSION => Ok(()),
        version => Err(Error::BadVersion { version, offset }),
    }
}

/// Reads a tag of four bytes.
fn tag(cursor: &mut Cursor<'_>, expected: u32, part: Part) -> Result<()> {
    let offset = cursor.offset();
    let tag = cursor.split(4, part)?.u32()?;
    if tag == expected { Ok(()) } else { Err(Error::BadTag { tag, offset }) }
}

/// Reads an arc. A caller of 0 is outside of the object.
fn arc(cursor: &mut Cursor<'_>, range: &Range<u64>) -> Result<Arc> {
    let size = cursor.word_size().saturating_mul(2).saturating_add(4);
    let mut slot = cursor.split(size as u64, Part::Arc)?;
    let offset = slot.offset();
    let (from, callee, count) = (slot.word()?, slot.word()?, slot.u32()?);
    let absolute = |distance: u64| {
        let address = range.start.checked_add(distance).filter(|address| range.contains(address));
        let outside = range.start.wrapping_add(distance);
        address.ok_or(Error::OutsideRange { address: outside, range: range.clone(), offset })
    };
    let frompc = if from == 0 { 0 } else { absolute(from)? };
    Ok(Arc::new(frompc, absolute(callee)?, count.into()))
}
