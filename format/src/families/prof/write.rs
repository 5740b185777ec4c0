//! Writes the PROF files of Solaris and illumos: modules, calls, and raw samples.

use alloc::vec::Vec;

use super::layout::{
    BUFFER, BUFFER_SIZE, CALL_GRAPH, CALL_GRAPH_SIZE, FUNCTION_SIZE, MODULE_SIZE, MODULES, MODULES_SIZE,
    OBJECT_VERSION, PROF_ALIGNMENT, PROF_HEADER_SIZE, PROF_MAGIC, PROF_MAJOR,
};
use crate::encode::Sink as _;
use crate::output::Output;
use crate::output::pieces::{check_path, in_seconds};
use crate::{Arc, Error, Histogram, Image, Profile};

/// Writes a `PROF` file. A sample becomes the first address of its bin.
pub(super) fn write(profile: &Profile, repeat_limit: u64, output: &mut Output<'_>) -> Result<(), Error> {
    let histograms = in_seconds(profile)?;
    output.u32(PROF_MAGIC);
    output.u16(PROF_MAJOR);
    output.u16(0);
    output.u64(PROF_HEADER_SIZE);
    modules(output, profile.images())?;
    calls(output, profile.arcs())?;
    samples(output, histograms, repeat_limit)
}

/// A size or an offset, rounded up as the writer of illumos does.
fn rounded(size: u64) -> u64 {
    size.checked_next_multiple_of(PROF_ALIGNMENT).unwrap_or(u64::MAX)
}

fn pad(output: &mut Output<'_>, from: u64, to: u64) {
    (from..to).for_each(|_| output.bytes(&[0]));
}

/// Writes the start of an object up to its first record: its size is that of all records.
fn head(output: &mut Output<'_>, object_type: u32, fixed: u64, content: u64) {
    output.u32(object_type);
    output.u32(OBJECT_VERSION);
    output.u64(rounded(rounded(fixed).saturating_add(content)));
}

/// Writes the modules: the images that have a range of addresses. Readers require that the list is not empty.
fn modules(output: &mut Output<'_>, images: &[Image]) -> Result<(), Error> {
    let modules: Vec<_> = images.iter().filter_map(|image| Some((image, image.range()?))).collect();
    if modules.is_empty() {
        return Ok(());
    }
    let paths = modules.iter().map(|(image, _)| (image.path().len() as u64).saturating_add(1));
    let records = (modules.len() as u64).saturating_mul(MODULE_SIZE);
    let size = paths.fold(records, u64::saturating_add);
    let first = rounded(MODULES_SIZE);
    head(output, MODULES, MODULES_SIZE, size);
    output.u64(first);
    pad(output, MODULES_SIZE, first);
    let mut path = first.saturating_add(records);
    for (at, (image, range)) in modules.iter().enumerate() {
        let is_last = at.saturating_add(1) == modules.len();
        let next = first.saturating_add((at as u64).saturating_add(1).saturating_mul(MODULE_SIZE));
        for field in [if is_last { 0 } else { next }, path, range.start, range.end] {
            output.u64(field);
        }
        path = path.saturating_add(image.path().len() as u64).saturating_add(1);
    }
    for (image, _) in &modules {
        check_path(image)?;
        output.bytes(image.path());
        output.bytes(&[0]);
    }
    pad(output, path, rounded(path));
    Ok(())
}

/// Writes the calls. Neighbors with the same callee are one chain of callers.
fn calls(output: &mut Output<'_>, arcs: &[Arc]) -> Result<(), Error> {
    let records = (arcs.len() as u64).saturating_mul(FUNCTION_SIZE);
    let first = rounded(CALL_GRAPH_SIZE);
    head(output, CALL_GRAPH, CALL_GRAPH_SIZE, records);
    output.u64(if arcs.is_empty() { 0 } else { first });
    pad(output, CALL_GRAPH_SIZE, first);
    let offset = |at: usize| (at as u64).saturating_mul(FUNCTION_SIZE).saturating_add(first);
    let mut start = 0_usize;
    for callers in arcs.chunk_by(|one, other| one.selfpc == other.selfpc) {
        let end = start.saturating_add(callers.len());
        let next_callee = if end == arcs.len() { 0 } else { offset(end) };
        for (at, arc) in (start..end).zip(callers) {
            output.check()?;
            let next = at.saturating_add(1);
            let next_to = if at == start { next_callee } else { 0 };
            let next_from = if next == end { 0 } else { offset(next) };
            for field in [next_to, next_from, arc.frompc, arc.selfpc, arc.count, 0] {
                output.u64(field);
            }
        }
        start = end;
    }
    Ok(())
}

/// Writes the samples: for each one the first address of its bin.
fn samples(output: &mut Output<'_>, histograms: &[Histogram], repeat_limit: u64) -> Result<(), Error> {
    let (mut samples, mut bins) = (0_u64, 0_u64);
    for histogram in histograms {
        for (bin, count) in histogram.hit() {
            let count = u64::try_from(count).map_err(|_| Error::WideBin { bin, count, offset: output.offset() })?;
            samples = samples.saturating_add(count);
            bins = bins.saturating_add(1);
        }
    }
    let repeated = samples.saturating_sub(bins).saturating_mul(8);
    if repeated > repeat_limit {
        return Err(Error::TooManyRepeats { size: repeated });
    }
    let size = samples.saturating_mul(8);
    head(output, BUFFER, BUFFER_SIZE, size);
    output.u64(BUFFER_SIZE);
    output.u64(samples);
    for histogram in histograms {
        for (bin, count) in histogram.hit() {
            let pc = histogram.bin_range(bin).start;
            for _ in 0..count {
                output.check()?;
                output.u64(pc);
            }
        }
    }
    pad(output, size, rounded(size));
    Ok(())
}
