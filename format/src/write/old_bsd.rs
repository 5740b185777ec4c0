//! Writes the form of 4.2BSD.

use super::bsd::{only_histogram, write_bins};
use super::output::Output;
use super::pieces::{long_most, repeated_size, samples_size, size_field};
use crate::encode::{Sink as _, bsd_arcs};
use crate::{Counter, Encoding, Histogram, OldHeader, Part, Profile, Word, WriteError};

pub(super) fn write(
    profile: &Profile,
    encoding: Encoding,
    header: OldHeader,
    repeat_limit: u64,
    output: &mut Output<'_>,
) -> Result<(), WriteError> {
    let (word, histogram) = (encoding.word(), only_histogram(profile)?);
    let most = long_most(encoding.model);
    let arcs_size = repeated_size(profile.arcs(), most, word.arc_size(), repeat_limit)?;
    let ncnt = samples_size(histogram)?.saturating_add(header.size(word));
    output.reserve(ncnt.saturating_add(arcs_size));
    let range = histogram.map_or(0..0, Histogram::range);
    output.word(range.start)?;
    output.word(range.end)?;
    match (word, header) {
        (Word::W64, OldHeader::Wide) => output.u64(ncnt),
        _ => output.u32(size_field(ncnt, Part::Samples)? as u32),
    }
    if (word, header) == (Word::W64, OldHeader::Padded) {
        output.u32(0);
    }
    if let Some(histogram) = histogram {
        write_bins(output, histogram, Counter::U16)?;
    }
    bsd_arcs(output, profile.arcs().iter().copied(), most, false)
}
