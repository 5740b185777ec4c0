//! Writes the profile of a shared object as the run-time linker of Solaris and illumos does.

use super::bsd::{only_histogram, write_bins};
use super::output::Output;
use super::pieces::{Repeats, piece_count};
use crate::encode::{Sink as _, pieces};
use crate::layout::illumos::{RTLD_LOCK_SIZE, RTLD_MAGIC, RTLD_VERSION_32, RTLD_VERSION_64};
use crate::{Counter, Encoding, Histogram, Part, Profile, Word, WriteError};

/// Writes a profile whose addresses count from the start of the object. A caller at address 0 becomes a caller outside
/// the object.
pub(super) fn write(
    profile: &Profile,
    encoding: Encoding,
    repeat_limit: u64,
    output: &mut Output<'_>,
) -> Result<(), WriteError> {
    let histogram = only_histogram(profile)?;
    if let Some(lowpc) = histogram.map(Histogram::lowpc).filter(|lowpc| *lowpc != 0) {
        return Err(WriteError::NotRelative { lowpc });
    }
    let is_wide = encoding.word() == Word::W64;
    let (header, slot, outside) = if is_wide { (56, 24, u64::MAX) } else { (52, 16, u64::from(u32::MAX)) };
    let most = u64::from(u32::MAX);
    let (mut slots, mut repeats) = (0_u64, Repeats::new(repeat_limit));
    // An arc without calls is no information: readers cannot tell it from a slot that is not used.
    let arcs = || profile.arcs().iter().filter(|arc| arc.count != 0);
    for arc in arcs() {
        // The two highest addresses stand for callers outside the object, and for unknown callers.
        if arc.frompc == outside || arc.frompc == outside.saturating_sub(1) {
            return Err(WriteError::ReservedAddress { address: arc.frompc });
        }
        let count = piece_count(arc.count, most);
        repeats.count(count, slot)?;
        slots = slots.saturating_add(count);
    }
    let samples = histogram.map_or(0, Histogram::len).saturating_mul(2);
    let size = slots.saturating_mul(slot).saturating_add(samples).saturating_add(header);
    let field = |size| u32::try_from(size).map_err(|_| WriteError::TooLarge { part: Part::File, size, limit: most });
    let size = field(size)?;
    output.u32(RTLD_MAGIC);
    output.u32(if is_wide { RTLD_VERSION_64 } else { RTLD_VERSION_32 });
    output.bytes(&[0; RTLD_LOCK_SIZE as usize]);
    output.word(histogram.map_or(0, Histogram::highpc))?;
    for field in [field(samples)?, size, field(slots)?, field(slots)?] {
        output.u32(field);
    }
    if let Some(histogram) = histogram {
        write_bins(output, histogram, Counter::U16)?;
    }
    for arc in arcs() {
        for count in pieces(arc.count, most) {
            output.word(if arc.frompc == 0 { outside } else { arc.frompc })?;
            output.word(arc.selfpc)?;
            output.u32(count as u32);
            output.u32(0); // The next slot of the hash chain, which is for the run-time linker.
        }
    }
    Ok(())
}
