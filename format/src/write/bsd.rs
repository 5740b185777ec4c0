//! Writes the forms of 4.4BSD and its descendants.

use alloc::vec::Vec;

use super::output::Output;
use super::pieces::{inhabited, piece_count};
use crate::encode::{BsdHeader, bsd_arcs, bsd_header, looks_padded, pieces};
use crate::{Arc, Dimension, Encoding, Error, Form, Histogram, Order, Part, Profile, Result, Word};

pub(super) fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64) -> Result<Vec<u8>> {
    let Encoding { form, word, order } = encoding;
    if !profile.blocks.is_empty() {
        return Err(Error::BlocksNotHeld { blocks: profile.blocks.len() });
    }
    let histogram = only_histogram(profile)?;
    let arcs = Arcs::new(&profile.arcs, encoding, repeat_limit)?;
    let sizes = Sizes::new(histogram, &arcs, form, word)?;
    let mut output = Output::new(u64::from(sizes.ncnt.unsigned_abs()).saturating_add(arcs.size), word, order);
    let (lowpc, highpc, profrate) = histogram.map_or((0, 0, 0), |of| (of.lowpc, of.highpc, of.profrate));
    bsd_header(&mut output, &BsdHeader { lowpc, highpc, ncnt: sizes.ncnt, profrate, spare: sizes.spare })?;
    if let Some(histogram) = histogram {
        for bin in 0..histogram.bins.len() {
            output.bin(bin, histogram.count(bin), form.counter())?;
        }
    }
    bsd_arcs(&mut output, profile.arcs.iter().copied(), arcs.most, arcs.apart)?;
    Ok(output.finish())
}

fn only_histogram(profile: &Profile) -> Result<Option<&Histogram>> {
    let histograms = inhabited(profile)?;
    if histograms.len() > 1 {
        return Err(Error::TooManyHistograms { histograms: histograms.len() });
    }
    let histogram = histograms.first().copied();
    match histogram {
        Some(Histogram { dimension, abbrev, .. }) if (*dimension, *abbrev) != (Dimension::SECONDS, b's') => {
            Err(Error::NotSeconds { dimension: *dimension, abbrev: *abbrev })
        }
        _ => Ok(histogram),
    }
}

/// The sizes in a header.
struct Sizes {
    ncnt: i32,
    /// The first spare word.
    spare: i32,
}

impl Sizes {
    fn new(histogram: Option<&Histogram>, arcs: &Arcs, form: Form, word: Word) -> Result<Sizes> {
        let bins = histogram.map_or(0, |histogram| histogram.bins.len() as u64);
        let samples = bins.saturating_mul(form.counter().width.size() as u64);
        let ncnt = size_field(samples.saturating_add(word.header_size()), Part::Samples)?;
        let spare = match form {
            Form::FreeBsd(counter) => counter.histcounter_type(),
            Form::OpenBsd => size_field(arcs.size, Part::Arcs)?,
            Form::Gnu | Form::Bsd => 0,
        };
        Ok(Sizes { ncnt, spare })
    }
}

fn size_field(size: u64, part: Part) -> Result<i32> {
    i32::try_from(size).map_err(|_| Error::TooLarge { part, size, limit: u64::from(i32::MAX.unsigned_abs()) })
}

/// How to write the arcs.
struct Arcs {
    /// The maximum count of one record, which is a C `long`.
    most: u64,
    /// Whether to write one call of the first arc as a record of its own.
    apart: bool,
    /// The size of all arcs in bytes.
    size: u64,
}

impl Arcs {
    fn new(arcs: &[Arc], encoding: Encoding, repeat_limit: u64) -> Result<Arcs> {
        let Encoding { form, word, order } = encoding;
        let most = match word {
            Word::W32 => u64::from(i32::MAX.unsigned_abs()),
            Word::W64 => i64::MAX.unsigned_abs(),
        };
        let records = arcs.iter().map(|arc| piece_count(arc.count, most)).fold(0, u64::saturating_add);
        let size = records.saturating_mul(word.arc_size());
        let repeated = records.saturating_sub(arcs.len() as u64).saturating_mul(word.arc_size());
        if repeated > repeat_limit {
            return Err(Error::TooManyRepeats { size: repeated });
        }
        let counts = arcs.iter().flat_map(|arc| pieces(arc.count, most));
        let apart = form == Form::Bsd && order == Order::Little && looks_padded(counts);
        Ok(Arcs { most, apart, size })
    }
}
