//! Writes GNU's form, version 1: histograms, then arcs, then basic-block counts.

use crate::encode::{GNU_ARC_MOST, GnuHistogram, Sink as _, gnu_arc, gnu_header, gnu_histogram, pieces};
use crate::layout::{GNU_HEADER_SIZE, GNU_TAG_BLOCKS};
use crate::output::Output;
use crate::output::pieces::{piece_count, records_of, write_record_of_bins};
use crate::{Block, Error, Histogram, Part, Profile, Word};

pub(super) fn write(profile: &Profile, word: Word, repeat_limit: u64, output: &mut Output<'_>) -> Result<(), Error> {
    output.reserve(file_size(profile, word, repeat_limit)?);
    gnu_header(output);
    for histogram in profile.histograms() {
        for record in 0..records_of(histogram) {
            write_histogram(output, histogram, record)?;
        }
    }
    for arc in profile.arcs() {
        gnu_arc(output, arc)?;
    }
    write_blocks(output, profile.blocks(), block_most(word))
}

/// The maximum count of a basic block.
fn block_most(word: Word) -> u64 {
    if word == Word::W32 { u64::from(u32::MAX) } else { u64::MAX }
}

/// The size of the whole file in bytes. An error if too much of it is repeated records.
fn file_size(profile: &Profile, word: Word, repeat_limit: u64) -> Result<u64, Error> {
    let block_most = block_most(word);
    let words = u64::try_from(word.size()).unwrap_or(0).saturating_mul(2);
    let mut size = GNU_HEADER_SIZE as u64;
    let mut repeated = 0_u64;
    let mut count = |records: u64, bytes: u64| {
        size = size.saturating_add(records.saturating_mul(bytes));
        repeated = repeated.saturating_add(records.saturating_sub(1).saturating_mul(bytes));
    };
    for histogram in profile.histograms() {
        let bins = histogram.len().saturating_mul(2);
        count(records_of(histogram), bins.saturating_add(words).saturating_add(25));
    }
    for arc in profile.arcs() {
        count(piece_count(arc.count, GNU_ARC_MOST), words.saturating_add(5));
    }
    for block in profile.blocks() {
        count(piece_count(block.count, block_most), words);
    }
    if repeated > repeat_limit {
        return Err(Error::TooManyRepeats { size: repeated });
    }
    Ok(size.saturating_add(5))
}

/// Writes one record of a histogram, with the counts that the earlier records do not contain.
fn write_histogram(output: &mut Output<'_>, histogram: &Histogram, record: u64) -> Result<(), Error> {
    let bins = histogram.len();
    let (size, limit, unit) = (bins, u64::from(u32::MAX), histogram.unit());
    let part = Part::Histogram;
    let head = GnuHistogram {
        lowpc: histogram.lowpc(),
        highpc: histogram.highpc(),
        bins: u32::try_from(bins).map_err(|_| Error::TooLarge { part, size, limit })?,
        profrate: unit.profrate,
        dimension: unit.dimension.field(),
        abbrev: unit.abbrev,
    };
    gnu_histogram(output, &head)?;
    write_record_of_bins(output, histogram, record)
}

/// Writes all blocks as one record.
fn write_blocks(output: &mut Output<'_>, blocks: &[Block], most: u64) -> Result<(), Error> {
    if blocks.is_empty() {
        return Ok(());
    }
    let (part, limit) = (Part::Blocks, u64::from(u32::MAX));
    let size = blocks.iter().map(|block| piece_count(block.count, most)).fold(0, u64::saturating_add);
    output.bytes(&[GNU_TAG_BLOCKS]);
    output.u32(u32::try_from(size).map_err(|_| Error::TooLarge { part, size, limit })?);
    for block in blocks {
        for count in pieces(block.count, most) {
            output.word(block.addr)?;
            output.word(count)?;
        }
    }
    Ok(())
}
