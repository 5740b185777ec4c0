//! Writes `mon.out`, which has calls without callers.

use super::bsd::{only_histogram, write_bins};
use super::output::Output;
use super::pieces::{long_most, repeated_size, samples_size};
use crate::encode::{Sink as _, pieces};
use crate::{Counter, Encoding, Histogram, Profile, WriteError};

pub(super) fn write(
    profile: &Profile,
    encoding: Encoding,
    repeat_limit: u64,
    output: &mut Output<'_>,
) -> Result<(), WriteError> {
    // The range of the functions is that of the samples.
    let histogram = only_histogram(profile)?;
    let range = histogram.map_or(0..0, Histogram::range);
    for arc in profile.arcs() {
        if arc.frompc != 0 {
            return Err(WriteError::CallerNotHeld { frompc: arc.frompc, selfpc: arc.selfpc });
        }
        // An address of 0 is an entry that no function uses.
        if arc.selfpc == 0 || !range.contains(&arc.selfpc) {
            return Err(WriteError::OutsideRange { address: arc.selfpc, range });
        }
    }
    let most = long_most(encoding.model);
    let entry = (encoding.word().size() as u64).saturating_mul(2);
    let functions_size = repeated_size(profile.arcs(), most, entry, repeat_limit)?;
    let samples = samples_size(histogram)?;
    output.reserve(functions_size.saturating_add(samples).saturating_add(24));
    output.word(range.start)?;
    output.word(range.end)?;
    output.word(functions_size.checked_div(entry).unwrap_or(0))?;
    for arc in profile.arcs() {
        for count in pieces(arc.count, most) {
            output.word(arc.selfpc)?;
            output.word(count)?;
        }
    }
    histogram.map_or(Ok(()), |histogram| write_bins(output, histogram, Counter::U16))
}
