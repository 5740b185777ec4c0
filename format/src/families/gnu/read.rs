//! Reads GNU's form: a header of twenty bytes, then unaligned records that start with a tag, in any order.

use alloc::vec::Vec;

use crate::decode::bins::{self, check_range};
use crate::decode::cursor::{Cursor, u32_of, u64_of};
use crate::decode::{Decode, Result};
use crate::layout::{GNU_HEADER_SIZE, GNU_MAGIC, GNU_TAG_ARC, GNU_TAG_BLOCKS, GNU_TAG_HISTOGRAM, GNU_VERSION};
use crate::{Arc, Block, Counter, Dimension, Error, Histogram, Part, Record, Unit};

/// The state of the reader.
#[derive(Clone, Default)]
pub(crate) struct GnuDecoder {
    /// The version; `None` before the header.
    version: Option<u32>,
    /// The number of basic blocks of the current record that are left.
    blocks: u64,
    /// The number of lists of basic blocks so far.
    lists: usize,
    /// The field of a dimension was not text that is padded with NULs.
    has_unusual_name: bool,
}

impl Decode for GnuDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        let start = cursor.offset();
        let version = self.header(cursor)?;
        loop {
            if let Some(left) = self.blocks.checked_sub(1) {
                self.blocks = left;
                return block(cursor, version).map(|block| Some(Record::Block(block)));
            }
            if cursor.left() == 0 || cursor.must_stop(start) {
                return Ok(None);
            }
            let offset = cursor.offset();
            cursor.begin_record();
            match cursor.u8()? {
                GNU_TAG_HISTOGRAM => match self.histogram(cursor)? {
                    Some(histogram) => return Ok(Some(Record::Histogram(histogram))),
                    None => continue,
                },
                GNU_TAG_ARC => return arc(cursor).map(|arc| Some(Record::Arc(arc))),
                GNU_TAG_BLOCKS => {
                    self.blocks = block_count(cursor, version)?;
                    self.lists = self.lists.saturating_add(1);
                }
                tag => return Err(Error::BadTag { tag: tag.into(), offset }),
            }
        }
    }

    fn arcs(&mut self, cursor: &mut Cursor<'_>, arcs: &mut Vec<Arc>) {
        if self.version.is_none() || self.blocks != 0 {
            return;
        }
        let order = cursor.order();
        if cursor.word_size() == 8 {
            let records = cursor.pieces(is_arc::<21>);
            arcs.extend(records.map(|record| {
                let (frompc, selfpc) = (u64_of(part(record, 1), order), u64_of(part(record, 9), order));
                Arc::new(frompc, selfpc, u32_of(part(record, 17), order).into())
            }));
        } else {
            let records = cursor.pieces(is_arc::<13>);
            arcs.extend(records.map(|record| {
                let [frompc, selfpc, count] = [1, 5, 9].map(|at| u64::from(u32_of(part(record, at), order)));
                Arc::new(frompc, selfpc, count)
            }));
        }
    }

    fn block_lists(&self) -> usize {
        self.lists
    }

    fn has_usual_names(&self) -> bool {
        !self.has_unusual_name
    }

    fn skip_arcs(&mut self, cursor: &mut Cursor<'_>) -> usize {
        if self.version.is_none() || self.blocks != 0 {
            return 0;
        }
        let is_wide = cursor.word_size() == 8;
        if is_wide { cursor.pieces(is_arc::<21>).len() } else { cursor.pieces(is_arc::<13>).len() }
    }
}

impl GnuDecoder {
    /// Reads the header, if that has not been done, and returns the version.
    fn header(&mut self, cursor: &mut Cursor<'_>) -> Result<u32> {
        if let Some(version) = self.version {
            return Ok(version);
        }
        let mut header = cursor.split(GNU_HEADER_SIZE as u64, Part::Header)?;
        let magic = header.array()?;
        if magic != GNU_MAGIC {
            return Err(Error::BadMagic { magic });
        }
        let offset = header.offset();
        let version = header.u32()?;
        if version > GNU_VERSION {
            return Err(Error::BadVersion { version, offset });
        }
        // The rest of the header is spare bytes, which some writers leave uninitialized.
        self.version = Some(version);
        Ok(version)
    }

    /// The histogram after a tag; `None` if the record has neither range nor bins, which is no information.
    fn histogram(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Histogram>> {
        // lowpc, highpc; then hist_size, profrate, 15 bytes of dimension, 1 of abbreviation.
        let size = cursor.word_size().saturating_mul(2).saturating_add(24);
        let mut header = cursor.split(size as u64, Part::Histogram)?;
        let offset = header.offset();
        let (lowpc, highpc) = (header.word()?, header.word()?);
        let bins = u64::from(header.u32()?);
        let profrate = header.u32()?;
        let dimension = header.array()?;
        self.has_unusual_name |= !is_name(&dimension);
        let unit = Unit { profrate, dimension: Dimension::from_field(dimension), abbrev: header.u8()? };
        let highpc = end_of_range(lowpc, highpc, bins, unit);
        check_range(lowpc, highpc, bins, offset)?;
        let samples = cursor.split(bins.saturating_mul(2), Part::Histogram)?;
        if bins == 0 {
            return Ok(None);
        }
        let bins = bins::read(samples.rest(), Counter::U16, samples.order());
        Ok(Histogram::new(lowpc..highpc, unit, bins).ok())
    }
}

/// The first address after the range. eu-stackprof has a bin for each byte, and the last address that was sampled in
/// the place of highpc. Other writers never have more bins than bytes of code.
fn end_of_range(lowpc: u64, highpc: u64, bins: u64, unit: Unit) -> u64 {
    let is_last = unit.dimension.as_bytes() == b"ticks" && highpc.checked_sub(lowpc) == bins.checked_sub(1);
    if is_last { highpc.saturating_add(1) } else { highpc }
}

/// Whether a field is printable text that is padded with NULs.
fn is_name(field: &[u8; 15]) -> bool {
    let mut bytes = field.iter().skip_while(|byte| byte.is_ascii_graphic() || **byte == b' ');
    bytes.all(|byte| *byte == 0)
}

/// Whether a chunk of the size of an arc record is an arc record.
fn is_arc<const N: usize>(record: &[u8; N]) -> bool {
    record.first() == Some(&GNU_TAG_ARC)
}

/// The bytes of a number in a record, which must be long enough.
fn part<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

fn arc(cursor: &mut Cursor<'_>) -> Result<Arc> {
    let size = cursor.word_size().saturating_mul(2).saturating_add(4);
    let mut record = cursor.split(size as u64, Part::Arc)?;
    Ok(Arc::new(record.word()?, record.word()?, u64::from(record.u32()?)))
}

/// Reads the number of blocks after a tag, and the string that follows the number in version 0.
fn block_count(cursor: &mut Cursor<'_>, version: u32) -> Result<u64> {
    let blocks = u64::from(cursor.split(4, Part::Blocks)?.u32()?);
    let word = cursor.word_size() as u64;
    let mut least = word.saturating_mul(2);
    if version < GNU_VERSION {
        cursor.c_string(Part::Blocks)?;
        // The smallest block has two empty strings and a line.
        least = least.saturating_add(6);
    }
    // A damaged number is an error before the first block.
    let mut all = *cursor;
    all.split(blocks.saturating_mul(least), Part::Blocks)?;
    Ok(blocks)
}

/// Reads a block. In version 0, the count comes first, and the names of a source file and a function and a line follow.
fn block(cursor: &mut Cursor<'_>, version: u32) -> Result<Block> {
    let word = cursor.word_size() as u64;
    let mut words = cursor.split(word.saturating_mul(2), Part::Blocks)?;
    let (first, second) = (words.word()?, words.word()?);
    if version == GNU_VERSION {
        return Ok(Block::new(first, second));
    }
    cursor.c_string(Part::Blocks)?;
    cursor.c_string(Part::Blocks)?;
    cursor.split(4, Part::Blocks)?;
    Ok(Block::new(second, first))
}
