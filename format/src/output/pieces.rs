//! What the writers of several forms have in common.

use super::Output;
use crate::encode::{gnu_bin, gnu_histograms};
use crate::{Arc, Bins, Counter, DataModel, Dimension, Error, Histogram, Image, Part, Profile};

/// The number of [`pieces`](crate::encode::pieces) for a count.
pub(crate) fn piece_count(count: u64, most: u64) -> u64 {
    count.div_ceil(most).max(1)
}

/// The maximum count in a C `long`.
pub(crate) fn long_most(model: DataModel) -> u64 {
    match model {
        DataModel::Ilp32 | DataModel::Llp64 => u64::from(i32::MAX.unsigned_abs()),
        DataModel::Lp64 => i64::MAX.unsigned_abs(),
    }
}

/// The size of all arcs in bytes, with records of this size that count `most` calls at most. An error if the repeated
/// records exceed the limit.
pub(crate) fn repeated_size(arcs: &[Arc], most: u64, record: u64, repeat_limit: u64) -> Result<u64, Error> {
    let records = arcs.iter().map(|arc| piece_count(arc.count, most)).fold(0, u64::saturating_add);
    let repeated = records.saturating_sub(arcs.len() as u64).saturating_mul(record);
    if repeated > repeat_limit {
        return Err(Error::TooManyRepeats { size: repeated });
    }
    Ok(records.saturating_mul(record))
}

/// The histograms of a profile, for a form that holds seconds.
pub(crate) fn in_seconds(profile: &Profile) -> Result<&[Histogram], Error> {
    let mut units = profile.histograms().iter().map(Histogram::unit);
    match units.find(|unit| (unit.dimension, unit.abbrev) != (Dimension::SECONDS, b's')) {
        Some(unit) => Err(Error::NotSeconds { dimension: unit.dimension, abbrev: unit.abbrev }),
        None => Ok(profile.histograms()),
    }
}

/// The histogram of a form that holds one.
pub(crate) fn only_histogram(profile: &Profile) -> Result<Option<&Histogram>, Error> {
    let histograms = profile.histograms();
    if histograms.len() > 1 {
        return Err(Error::TooManyHistograms { histograms: histograms.len() as u64 });
    }
    let histogram = histograms.first();
    let unit = histogram.map(Histogram::unit);
    match unit.filter(|unit| (unit.dimension, unit.abbrev) != (Dimension::SECONDS, b's')) {
        Some(unit) => Err(Error::NotSeconds { dimension: unit.dimension, abbrev: unit.abbrev }),
        None => Ok(histogram),
    }
}

/// Checks that the empty bins that a file has and a sparse histogram does not store are below the limit: a few counts
/// can stand for the bins of a whole address space. A bin has this type.
pub(crate) fn check_empty_bins(profile: &Profile, counter: Counter, limit: u64) -> Result<(), Error> {
    let width = counter.width.size() as u64;
    let mut empty = 0_u64;
    for histogram in profile.histograms() {
        if let Bins::Sparse { bins, counts } = histogram.bins() {
            let (size, stored) = (bins.saturating_mul(width), (counts.len() as u64).saturating_mul(width));
            empty = empty.saturating_add(size.saturating_sub(stored));
            if empty > limit {
                return Err(Error::TooLarge { part: Part::Samples, size, limit });
            }
        }
    }
    Ok(())
}

/// A size that a form stores in a signed field of 4 bytes.
pub(crate) fn size_field(size: u64, part: Part) -> Result<i32, Error> {
    i32::try_from(size).map_err(|_| Error::TooLarge { part, size, limit: u64::from(i32::MAX.unsigned_abs()) })
}

/// The size in bytes of the 16-bit samples of a histogram. An error if the size exceeds a signed field of 4 bytes: a
/// form with a larger field, or with none, has the same limit.
pub(crate) fn samples_size(histogram: Option<&Histogram>) -> Result<u64, Error> {
    let size = histogram.map_or(0, Histogram::len).saturating_mul(2);
    size_field(size, Part::Samples).map(|_| size)
}

/// The records that repeat others because a count does not fit its field.
pub(crate) struct Repeats {
    /// The size of these records in bytes.
    size: u64,
    limit: u64,
}

impl Repeats {
    pub(crate) fn new(limit: u64) -> Repeats {
        Repeats { size: 0, limit }
    }

    /// Counts the records of this size for one item. An error if the repeated records exceed the limit.
    pub(crate) fn count(&mut self, records: u64, size: u64) -> Result<(), Error> {
        self.size = self.size.saturating_add(records.saturating_sub(1).saturating_mul(size));
        if self.size > self.limit { Err(Error::TooManyRepeats { size: self.size }) } else { Ok(()) }
    }
}

/// The number of records for a histogram with 16-bit bins: one for each time that its highest bin overflows.
pub(crate) fn records_of(histogram: &Histogram) -> u64 {
    let highest = histogram.hit().map(|(_, count)| count).max().unwrap_or(0);
    gnu_histograms(u64::try_from(highest).unwrap_or(0))
}

/// Writes the bins of one of these records: the counts that the records before it do not contain.
pub(crate) fn write_record_of_bins(output: &mut Output<'_>, histogram: &Histogram, record: u64) -> Result<(), Error> {
    for bin in 0..histogram.len() {
        // A negative count stays as it is; `bin` rejects it.
        let count = histogram.count(bin);
        let piece = u64::try_from(count).map_or(count, |count| i128::from(gnu_bin(count, record)));
        output.bin(bin, piece, Counter::U16)?;
    }
    Ok(())
}

/// Writes all bins with counters of one type.
pub(crate) fn write_bins(output: &mut Output<'_>, histogram: &Histogram, counter: Counter) -> Result<(), Error> {
    let mut next = 0;
    for (bin, count) in histogram.hit() {
        for empty in next..bin {
            output.bin(empty, 0, counter)?;
        }
        output.bin(bin, count, counter)?;
        next = bin.saturating_add(1);
    }
    for empty in next..histogram.len() {
        output.bin(empty, 0, counter)?;
    }
    Ok(())
}

/// Checks a path that ends with a NUL in the file.
pub(crate) fn check_path(image: &Image) -> Result<(), Error> {
    let path = image.path();
    if path.contains(&0) { Err(Error::PathNotHeld { path: path.to_vec() }) } else { Ok(()) }
}
