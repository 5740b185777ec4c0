//! Writes what glibc's dynamic linker writes for `LD_PROFILE`: the linker itself adds later runs to such a file.

use core::ops::Range;

use super::layout::LdProfileSizes;
use crate::encode::{Sink as _, pieces};
use crate::layout::{GNU_HEADER_SIZE, GNU_MAGIC, LD_PROFILE_VERSION};
use crate::output::Output;
use crate::output::pieces::{only_histogram, piece_count, write_bins};
use crate::{Arc, Counter, Encoding, Error, Histogram, Part, Profile};

/// The maximum count of a slot.
const MOST: u64 = u32::MAX as u64;

pub(super) fn write(profile: &Profile, encoding: Encoding, output: &mut Output<'_>) -> Result<(), Error> {
    let word = encoding.word();
    let histogram = only_histogram(profile)?.ok_or(Error::NoHistogram)?;
    let range = histogram.range();
    let sizes = LdProfileSizes::new(range.end.saturating_sub(range.start), word);
    let (bins, needed) = (histogram.len(), sizes.bins);
    if bins != needed {
        return Err(Error::BinsNotHeld { bins, needed, range });
    }
    // An arc without calls is no information: readers cannot tell it from a slot that is not used.
    let arcs = || profile.arcs().iter().filter(|arc| arc.count != 0);
    let slots = arcs().map(|arc| piece_count(arc.count, MOST)).fold(0, u64::saturating_add);
    if slots > sizes.most_arcs {
        return Err(Error::TooLarge { part: Part::Arcs, size: slots, limit: sizes.most_arcs });
    }
    output.reserve(sizes.file(word));
    write_head(output, histogram)?;
    output.u32(1);
    output.u32(narrow(slots, Part::Arcs)?);
    for arc in arcs() {
        let arc = relative(arc, &range)?;
        for count in pieces(arc.count, MOST) {
            output.word(arc.frompc)?;
            output.word(arc.selfpc)?;
            output.u32(count as u32);
        }
    }
    output.zeros(sizes.arcs.saturating_sub(slots.saturating_mul(sizes.arc)));
    Ok(())
}

fn narrow(size: u64, part: Part) -> Result<u32, Error> {
    u32::try_from(size).map_err(|_| Error::TooLarge { part, size, limit: u64::from(u32::MAX) })
}

/// Writes the header and the histogram.
fn write_head(output: &mut Output<'_>, histogram: &Histogram) -> Result<(), Error> {
    output.bytes(&GNU_MAGIC);
    output.u32(LD_PROFILE_VERSION);
    output.bytes(&[0; GNU_HEADER_SIZE - 8]);
    output.u32(0);
    let unit = histogram.unit();
    output.word(histogram.lowpc())?;
    output.word(histogram.highpc())?;
    output.u32(narrow(histogram.len(), Part::Histogram)?);
    output.u32(unit.profrate);
    output.bytes(unit.dimension.field());
    output.bytes(&[unit.abbrev]);
    write_bins(output, histogram, Counter::U16)
}

/// An arc with distances from the start of the range. A distance of 0 is a caller outside of the object, so no caller
/// can be at the start itself.
fn relative(arc: &Arc, range: &Range<u64>) -> Result<Arc, Error> {
    let (frompc, selfpc) = (arc.frompc, arc.selfpc);
    let is_inside = frompc != range.start && range.contains(&frompc);
    if frompc != 0 && !is_inside {
        return Err(Error::CallerNotHeld { frompc, selfpc });
    }
    if !range.contains(&selfpc) {
        return Err(Error::OutsideNotHeld { address: selfpc, range: range.clone() });
    }
    let distance = |address: u64| address.saturating_sub(range.start);
    Ok(Arc::new(distance(frompc), distance(selfpc), arc.count))
}
