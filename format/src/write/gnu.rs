//! Writes GNU's form, version 1: histograms, then arcs, then basic-block counts.

use alloc::vec::Vec;

use super::output::Output;
use super::pieces::{inhabited, piece_count};
use crate::encode::{
    GNU_ARC_MOST, GnuHistogram, Sink as _, gnu_arc, gnu_bin, gnu_header, gnu_histogram, gnu_histograms, pieces,
};
use crate::layout::{GNU_HEADER_SIZE, GNU_TAG_BLOCKS};
use crate::{Block, Counter, Error, Histogram, Order, Part, Profile, Result, Word};

pub(super) fn write(profile: &Profile, word: Word, order: Order, repeat_limit: u64) -> Result<Vec<u8>> {
    let histograms = inhabited(profile)?;
    let size = file_size(profile, &histograms, word, repeat_limit)?;
    let mut output = Output::new(size, word, order);
    gnu_header(&mut output);
    for histogram in histograms {
        for record in 0..histogram_records(histogram) {
            write_histogram(&mut output, histogram, record)?;
        }
    }
    for arc in &profile.arcs {
        gnu_arc(&mut output, arc)?;
    }
    write_blocks(&mut output, &profile.blocks, block_most(word))?;
    Ok(output.finish())
}

/// The maximum count of a basic block.
fn block_most(word: Word) -> u64 {
    if word == Word::W32 { u64::from(u32::MAX) } else { u64::MAX }
}

/// The size of the whole file in bytes. An error if too much of it is repeated records.
fn file_size(profile: &Profile, histograms: &[&Histogram], word: Word, repeat_limit: u64) -> Result<u64> {
    let block_most = block_most(word);
    let words = u64::try_from(word.size()).unwrap_or(0).saturating_mul(2);
    let mut size = GNU_HEADER_SIZE as u64;
    let mut repeated = 0_u64;
    let mut count = |records: u64, bytes: u64| {
        size = size.saturating_add(records.saturating_mul(bytes));
        repeated = repeated.saturating_add(records.saturating_sub(1).saturating_mul(bytes));
    };
    for histogram in histograms {
        let bins = (histogram.bins.len() as u64).saturating_mul(2);
        count(histogram_records(histogram), bins.saturating_add(words).saturating_add(25));
    }
    for arc in &profile.arcs {
        count(piece_count(arc.count, GNU_ARC_MOST), words.saturating_add(5));
    }
    for block in &profile.blocks {
        count(piece_count(block.count, block_most), words);
    }
    if repeated > repeat_limit {
        return Err(Error::TooManyRepeats { size: repeated });
    }
    Ok(size.saturating_add(5))
}

/// The number of records for a histogram: one for each time that its highest bin overflows.
fn histogram_records(histogram: &Histogram) -> u64 {
    let highest = (0..histogram.bins.len()).map(|bin| histogram.count(bin)).max().unwrap_or(0);
    gnu_histograms(u64::try_from(highest).unwrap_or(0))
}

/// Writes one record of a histogram, with the counts that the earlier records do not contain.
fn write_histogram(output: &mut Output, histogram: &Histogram, record: u64) -> Result<()> {
    let bins = histogram.bins.len();
    let (size, limit) = (bins as u64, u64::from(u32::MAX));
    let part = Part::Histogram;
    let head = GnuHistogram {
        lowpc: histogram.lowpc,
        highpc: histogram.highpc,
        bins: u32::try_from(bins).map_err(|_| Error::TooLarge { part, size, limit })?,
        profrate: histogram.profrate,
        dimension: histogram.dimension.field(),
        abbrev: histogram.abbrev,
    };
    gnu_histogram(output, &head)?;
    for bin in 0..bins {
        // A negative count stays as it is; `bin` rejects it.
        let count = histogram.count(bin);
        let piece = u64::try_from(count).map_or(count, |count| i128::from(gnu_bin(count, record)));
        output.bin(bin, piece, Counter::U16)?;
    }
    Ok(())
}

/// Writes all blocks as one record.
fn write_blocks(output: &mut Output, blocks: &[Block], most: u64) -> Result<()> {
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
