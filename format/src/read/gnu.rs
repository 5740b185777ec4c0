//! Reads GNU's form: a header of twenty bytes, then unaligned records that start with a tag, in any order.

use alloc::vec::Vec;

use super::bins::{self, check_range};
use super::cursor::{Cursor, u32_of, u64_of};
use crate::accumulate::Histograms;
use crate::layout::{GNU_HEADER_SIZE, GNU_MAGIC, GNU_TAG_ARC, GNU_TAG_BLOCKS, GNU_TAG_HISTOGRAM, GNU_VERSION};
use crate::{Arc, Block, Counter, Dimension, Error, Histogram, Order, Part, Profile, Result, Word};

pub(super) fn read(bytes: &[u8], word: Word, order: Order) -> Result<Profile> {
    let mut histograms = Histograms::default();
    let mut arcs = Vec::new();
    let mut blocks = Vec::new();
    let mut records = Records::new(bytes, word, order)?;
    records.arcs_ahead(&mut arcs);
    while let Some(record) = records.next()? {
        match record {
            Record::Histogram(record) => histograms.add(record.histogram())?,
            Record::Arc(arc) => {
                arcs.push(arc);
                records.arcs_ahead(&mut arcs);
            }
            Record::Blocks(mut record) => {
                while record.left() != 0 {
                    blocks.push(Block { addr: record.word()?, count: record.word()? });
                }
            }
        }
    }
    Ok(Profile { histograms: histograms.finish(), arcs, blocks })
}

/// Whether a chunk of the size of an arc record is an arc record.
fn is_arc<const N: usize>(record: &[u8; N]) -> bool {
    record.first() == Some(&GNU_TAG_ARC)
}

/// The bytes of a number in a record, which must be long enough.
fn part<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

/// A record of a GNU file.
pub(crate) enum Record<'a> {
    /// Samples.
    Histogram(HistogramRecord<'a>),
    /// An arc.
    Arc(Arc),
    /// Basic-block counts: pairs of an address and a count, both of the word size.
    Blocks(Cursor<'a>),
}

/// A histogram whose samples are not copied yet.
pub(crate) struct HistogramRecord<'a> {
    pub(crate) lowpc: u64,
    pub(crate) highpc: u64,
    /// The dimension, as in the file.
    pub(crate) dimension: [u8; 15],
    profrate: u32,
    abbrev: u8,
    samples: Cursor<'a>,
}

impl HistogramRecord<'_> {
    fn histogram(&self) -> Histogram {
        Histogram {
            lowpc: self.lowpc,
            highpc: self.highpc,
            profrate: self.profrate,
            dimension: Dimension::from_field(self.dimension),
            abbrev: self.abbrev,
            signed: false,
            bins: bins::read(self.samples.rest(), Counter::U16, self.samples.order()),
        }
    }
}

/// Iterates over the records of a GNU file without allocating.
pub(crate) struct Records<'a> {
    cursor: Cursor<'a>,
    version: u32,
}

impl<'a> Records<'a> {
    /// Checks the header, and stops after it.
    pub(crate) fn new(bytes: &'a [u8], word: Word, order: Order) -> Result<Records<'a>> {
        let mut cursor = Cursor::new(bytes, word, order);
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
        Ok(Records { cursor, version })
    }

    /// The offset of the next record.
    pub(crate) fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// The next record, `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'a>>> {
        if self.cursor.left() == 0 {
            return Ok(None);
        }
        let offset = self.cursor.offset();
        match self.cursor.u8()? {
            GNU_TAG_HISTOGRAM => self.histogram().map(|record| Some(Record::Histogram(record))),
            GNU_TAG_ARC => self.arc().map(|arc| Some(Record::Arc(arc))),
            GNU_TAG_BLOCKS if self.version == 0 => Err(Error::OldBlocks { offset }),
            GNU_TAG_BLOCKS => self.blocks().map(|blocks| Some(Record::Blocks(blocks))),
            tag => Err(Error::BadTag { tag, offset }),
        }
    }

    /// Adds all arcs that come next: there may be millions in a row.
    fn arcs_ahead(&mut self, arcs: &mut Vec<Arc>) {
        let order = self.cursor.order();
        if self.cursor.word_size() == 8 {
            let records = self.cursor.pieces(is_arc::<21>);
            arcs.extend(records.iter().map(|record| {
                let (frompc, selfpc) = (u64_of(part(record, 1), order), u64_of(part(record, 9), order));
                Arc { frompc, selfpc, count: u32_of(part(record, 17), order).into() }
            }));
        } else {
            let records = self.cursor.pieces(is_arc::<13>);
            arcs.extend(records.iter().map(|record| {
                let [frompc, selfpc, count] = [1, 5, 9].map(|at| u64::from(u32_of(part(record, at), order)));
                Arc { frompc, selfpc, count }
            }));
        }
    }

    /// Skips the arcs that come next, and returns their number.
    pub(crate) fn skip_arcs(&mut self) -> usize {
        let is_wide = self.cursor.word_size() == 8;
        if is_wide { self.cursor.pieces(is_arc::<21>).len() } else { self.cursor.pieces(is_arc::<13>).len() }
    }

    fn histogram(&mut self) -> Result<HistogramRecord<'a>> {
        // lowpc, highpc; then hist_size, profrate, 15 bytes of dimension, 1 of abbreviation.
        let size = self.cursor.word_size().saturating_mul(2).saturating_add(24);
        let mut header = self.cursor.split(size as u64, Part::Histogram)?;
        let offset = header.offset();
        let (lowpc, highpc) = (header.word()?, header.word()?);
        let bins = u64::from(header.u32()?);
        let profrate = header.u32()?;
        let dimension = header.array()?;
        let abbrev = header.u8()?;
        check_range(lowpc, highpc, bins, offset)?;
        let samples = self.cursor.split(bins.saturating_mul(2), Part::Histogram)?;
        Ok(HistogramRecord { lowpc, highpc, dimension, profrate, abbrev, samples })
    }

    fn arc(&mut self) -> Result<Arc> {
        let size = self.cursor.word_size().saturating_mul(2).saturating_add(4);
        let mut record = self.cursor.split(size as u64, Part::Arc)?;
        Ok(Arc { frompc: record.word()?, selfpc: record.word()?, count: u64::from(record.u32()?) })
    }

    fn blocks(&mut self) -> Result<Cursor<'a>> {
        let blocks = u64::from(self.cursor.split(4, Part::Blocks)?.u32()?);
        let pair = self.cursor.word_size().saturating_mul(2) as u64;
        self.cursor.split(blocks.saturating_mul(pair), Part::Blocks)
    }
}
