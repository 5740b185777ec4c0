//! Reads profiles from files.

mod bins;
pub(crate) mod bsd;
mod collect;
mod counts;
pub(crate) mod cursor;
mod darwin;
mod decode;
pub(crate) mod decoder;
pub(crate) mod gnu;
mod gnu_blocks;
mod image_count;
pub(crate) mod input;
pub(crate) mod ld_profile;
pub(crate) mod mon_out;
pub(crate) mod old_bsd;
mod prof;
mod records;
mod result;
mod rtld;
mod sparse_sum;
mod trailing;

use collect::Collector;
pub use counts::RecordCounts;
use cursor::Cursor;
use decode::Decode as _;
use decoder::Decoder;
pub use input::Input;
pub use records::Records;
pub(crate) use result::Result;

use crate::{Encoding, Profile};

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
/// When no system has files with this encoding. When the file is not a complete, valid profile of this encoding: a wrong magic or version, sizes that exceed the
/// file, a partial arc at the end, an address range that is reversed or has no bins, histograms that overlap or are
/// not compatible, or a wrong OpenBSD `totarc`.
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
