//! Writes the forms of 4.4BSD and its descendants.

use crate::encode::{BsdHeader, Sink as _, bsd_arcs, bsd_header, looks_padded, pieces};
use crate::output::Output;
use crate::output::pieces::{long_most, only_histogram, repeated_size, size_field, write_bins};
use crate::{Arc, DataModel, Encoding, Error, Form, Histogram, Order, Part, Profile, Word};

pub(super) fn write(
    profile: &Profile,
    encoding: Encoding,
    repeat_limit: u64,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let (form, histogram) = (encoding.form, only_histogram(profile)?);
    let arcs = Arcs::new(profile.arcs(), encoding, repeat_limit)?;
    let sizes = Sizes::new(histogram, &arcs, form, encoding.word())?;
    output.reserve(u64::from(sizes.ncnt.unsigned_abs()).saturating_add(arcs.size));
    let range = histogram.map_or(0..0, Histogram::range);
    let profrate = histogram.map_or(0, |histogram| histogram.unit().profrate);
    let header = BsdHeader { lowpc: range.start, highpc: range.end, ncnt: sizes.ncnt, profrate, spare: sizes.spare };
    bsd_header(output, &header)?;
    if let Some(histogram) = histogram {
        write_bins(output, histogram, form.counter())?;
    }
    match encoding.model {
        DataModel::Llp64 => write_narrow_arcs(output, profile.arcs(), arcs.most),
        DataModel::Ilp32 | DataModel::Lp64 => bsd_arcs(output, profile.arcs().iter().copied(), arcs.most, arcs.apart),
    }
}

/// Writes arcs with counts of 4 bytes and 4 bytes of padding, which are 0.
fn write_narrow_arcs(output: &mut Output<'_>, arcs: &[Arc], most: u64) -> Result<(), Error> {
    for arc in arcs {
        for count in pieces(arc.count, most) {
            output.word(arc.frompc)?;
            output.word(arc.selfpc)?;
            output.u32(u32::try_from(count).unwrap_or(u32::MAX));
            output.u32(0);
        }
    }
    Ok(())
}

/// The sizes in a header.
struct Sizes {
    ncnt: i32,
    /// The first spare word.
    spare: i32,
}

impl Sizes {
    fn new(histogram: Option<&Histogram>, arcs: &Arcs, form: Form, word: Word) -> Result<Sizes, Error> {
        let bins = histogram.map_or(0, Histogram::len);
        let samples = bins.saturating_mul(form.counter().width.size() as u64);
        let ncnt = size_field(samples.saturating_add(word.header_size()), Part::Samples)?;
        let spare = match form {
            Form::FreeBsd(counter) => counter.histcounter_type(),
            Form::OpenBsd => size_field(arcs.size, Part::Arcs)?,
            _ => 0,
        };
        Ok(Sizes { ncnt, spare })
    }
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
    fn new(arcs: &[Arc], encoding: Encoding, repeat_limit: u64) -> Result<Arcs, Error> {
        let Encoding { form, model, order } = encoding;
        let most = long_most(model);
        let size = repeated_size(arcs, most, model.word().arc_size(), repeat_limit)?;
        let counts = arcs.iter().flat_map(|arc| pieces(arc.count, most));
        let apart = form == Form::Bsd && model == DataModel::Lp64 && order == Order::Little && looks_padded(counts);
        Ok(Arcs { most, apart, size })
    }
}
