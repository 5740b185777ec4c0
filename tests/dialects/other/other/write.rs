//! Writes the invented form.

use super::read::MAGIC;
use crate::encode::{Sink as _, pieces};
use crate::output::Output;
use crate::output::pieces::{only_histogram, repeated_size, size_field, write_bins};
use crate::{Counter, Error, Histogram, Part, Profile};

/// The maximum count of an arc.
const MOST: u64 = u32::MAX as u64;

/// Writes the header, the samples, and the arcs.
pub(super) fn write(profile: &Profile, repeat_limit: u64, output: &mut Output<'_>) -> Result<(), Error> {
    let histogram = only_histogram(profile)?;
    let word = output.word_size();
    output.bytes(&MAGIC);
    output.u32(word as u32);
    let range = histogram.map_or(0..0, Histogram::range);
    output.word(range.start)?;
    output.word(range.end)?;
    output.u32(size_field(histogram.map_or(0, Histogram::len), Part::Samples)? as u32);
    output.u32(histogram.map_or(0, |histogram| histogram.unit().profrate));
    if let Some(histogram) = histogram {
        write_bins(output, histogram, Counter::U16)?;
    }
    repeated_size(profile.arcs(), MOST, (word as u64).saturating_mul(2).saturating_add(4), repeat_limit)?;
    for arc in profile.arcs() {
        for count in pieces(arc.count, MOST) {
            output.word(arc.frompc)?;
            output.word(arc.selfpc)?;
            output.u32(count as u32);
        }
    }
    Ok(())
}
