//! Writes the tagged files of Darwin and NeXT: the images, then each range's samples and the arcs into the range.

mod images;

use alloc::vec;
use alloc::vec::Vec;

use super::output::Output;
use super::pieces::{Repeats, in_seconds, piece_count, records_of, write_record_of_bins};
use crate::encode::{Sink as _, pieces};
use crate::layout::GMONVERSION;
use crate::layout::darwin::{ARCS_ORDERS, MAGIC_32, MAGIC_64, RAWARCS, SAMPLES};
use crate::{Arc, Encoding, Form, Histogram, Part, Profile, Word, WriteError};

pub(super) fn write(
    profile: &Profile,
    encoding: Encoding,
    repeat_limit: u64,
    output: &mut Output<'_>,
) -> Result<(), WriteError> {
    let histograms = in_seconds(profile)?;
    let is_wide = encoding.word() == Word::W64;
    output.u32(if is_wide { MAGIC_64 } else { MAGIC_32 });
    match encoding.form {
        Form::Next if is_wide => return Err(WriteError::NoWideAddresses { form: encoding.form }),
        Form::Next => images::next(output, profile.images())?,
        _ => images::darwin(output, profile.images())?,
    }
    let groups = arcs_by_range(histograms, profile.arcs());
    let mut repeats = Repeats::new(repeat_limit);
    for (at, group) in groups.iter().enumerate() {
        match histograms.get(at) {
            Some(histogram) => samples(output, histogram, encoding, &mut repeats)?,
            None if group.is_empty() => continue,
            None => {}
        }
        arcs(output, profile, group, &mut repeats)?;
    }
    Ok(())
}

/// Writes the samples of a histogram, in as many records as the highest bin requires.
fn samples(
    output: &mut Output<'_>,
    histogram: &Histogram,
    encoding: Encoding,
    repeats: &mut Repeats,
) -> Result<(), WriteError> {
    let words = (encoding.word().size() as u64).saturating_mul(2);
    let header = words.saturating_add(if encoding.form == Form::Next { 4 } else { 24 });
    let size = histogram.len().saturating_mul(2).saturating_add(header);
    let records = records_of(histogram);
    repeats.count(records, size)?;
    for record in 0..records {
        let ncnt = images::head(output, SAMPLES, Part::Samples, size)?;
        output.word(histogram.lowpc())?;
        output.word(histogram.highpc())?;
        output.u32(ncnt);
        if encoding.form != Form::Next {
            for field in [GMONVERSION as u32, histogram.unit().profrate, 0, 0, 0] {
                output.u32(field);
            }
        }
        write_record_of_bins(output, histogram, record)?;
    }
    Ok(())
}

/// Writes these arcs of a profile, with their order if the profile has the order of any arc.
fn arcs(output: &mut Output<'_>, profile: &Profile, group: &[usize], repeats: &mut Repeats) -> Result<(), WriteError> {
    let ordered = profile.orders().next().is_some();
    let is_wide = output.word_size() == 8;
    let (most, size) = match (ordered, is_wide) {
        (true, false) => (u64::from(u32::MAX), 16),
        (true, true) => (u64::from(u32::MAX), 24),
        (false, false) => (u64::from(i32::MAX.unsigned_abs()), 12),
        (false, true) => (u64::from(i32::MAX.unsigned_abs()), 24),
    };
    let chosen = || group.iter().filter_map(|at| profile.arcs().get(*at));
    let mut records = 0_u64;
    for arc in chosen() {
        let pieces = piece_count(arc.count, most);
        repeats.count(pieces, size)?;
        records = records.saturating_add(pieces);
    }
    let record_type = if ordered { ARCS_ORDERS } else { RAWARCS };
    images::head(output, record_type, Part::Arcs, records.saturating_mul(size))?;
    for arc in chosen() {
        let order = profile.order(arc.frompc, arc.selfpc).unwrap_or(0);
        for count in pieces(arc.count, most) {
            output.word(arc.frompc)?;
            output.word(arc.selfpc)?;
            output.u32(count as u32);
            if ordered || is_wide {
                output.u32(order);
            }
        }
    }
    Ok(())
}

/// The arcs into each histogram's range, and then the arcs into no range; in each the arcs keep their order.
fn arcs_by_range(histograms: &[Histogram], arcs: &[Arc]) -> Vec<Vec<usize>> {
    let mut ranges: Vec<_> = histograms.iter().map(Histogram::range).zip(0..).collect();
    ranges.sort_unstable_by_key(|(range, _)| range.start);
    let mut groups = vec![Vec::new(); histograms.len().saturating_add(1)];
    for (at, arc) in arcs.iter().enumerate() {
        let next = ranges.partition_point(|(range, _)| range.start <= arc.selfpc);
        let range = next.checked_sub(1).and_then(|last| ranges.get(last));
        let group =
            range.filter(|(range, _)| range.contains(&arc.selfpc)).map_or(histograms.len(), |(_, group)| *group);
        if let Some(group) = groups.get_mut(group) {
            group.push(at);
        }
    }
    groups
}
