//! Reads profiles from files with a known encoding.

mod collect;
mod records;

pub use records::Records;

use crate::decode::cursor::Cursor;
use crate::decode::{Decode as _, Result};
use crate::families::Decoder;
use crate::{Encoding, Profile, Record};
use collect::Collector;

/// The number of records of each kind in a file. Several histogram records of one address range become one histogram
/// of a [`Profile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RecordCounts {
    /// Histograms that are not empty.
    pub histograms: usize,
    /// Arcs.
    pub arcs: usize,
    /// Lists of basic-block counts.
    pub blocks: usize,
    /// Executables and shared objects.
    pub images: usize,
}

impl RecordCounts {
    /// The numbers of items of a profile: those of the records of its file, except in GNU's form.
    #[must_use]
    pub fn of(profile: &Profile) -> RecordCounts {
        RecordCounts {
            histograms: profile.histograms().len(),
            arcs: profile.arcs().len(),
            blocks: usize::from(!profile.blocks().is_empty()),
            images: profile.images().len(),
        }
    }

    /// Counts a record.
    fn count(&mut self, record: &Record) {
        let count = match record {
            Record::Histogram(_) => &mut self.histograms,
            Record::Arc(_) | Record::OrderedArc { .. } => &mut self.arcs,
            Record::Image(_) => &mut self.images,
            // The decoder counts the lists of blocks.
            Record::Block(_) => return,
        };
        *count = count.saturating_add(1);
    }
}

/// Counts the records of a file with a known encoding. In the 4.4BSD family the samples are one record, and each arc
/// is one.
///
/// # Errors
///
/// As for [`read_as`], except that histograms that cannot be in one profile are no error.
pub fn count_records(bytes: &[u8], encoding: Encoding) -> Result<RecordCounts> {
    let mut cursor = Cursor::new(bytes, encoding.word(), encoding.order);
    let mut decoder = Decoder::new(encoding)?;
    let mut counts = RecordCounts::default();
    loop {
        counts.arcs = counts.arcs.saturating_add(decoder.skip_arcs(&mut cursor));
        match decoder.next(&mut cursor)? {
            Some(record) => counts.count(&record),
            None => break,
        }
    }
    Ok(RecordCounts { blocks: decoder.block_lists(), ..counts })
}

/// Reads a profile with a known encoding.
///
/// The encoding is trusted: the counters are those of the encoding, whatever the spare words of a 4.4BSD header
/// contain.
///
/// # Errors
///
/// When no system has files with this encoding. When the file is not a complete, valid profile of this encoding: a
/// wrong magic or version, sizes that exceed the file, a partial arc at the end, an address range that is reversed or
/// has no bins, histograms that overlap or are not compatible, or a wrong OpenBSD `totarc`.
pub fn read_as(bytes: &[u8], encoding: Encoding) -> Result<Profile> {
    let mut cursor = Cursor::new(bytes, encoding.word(), encoding.order);
    let mut decoder = Decoder::new(encoding)?;
    let mut collector = Collector::default();
    loop {
        decoder.arcs(&mut cursor, &mut collector.profile.arcs);
        match decoder.next(&mut cursor)? {
            Some(record) => collector.add(record, cursor.record())?,
            None => return collector.finish(cursor.record()),
        }
    }
}
