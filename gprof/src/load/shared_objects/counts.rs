//! What a run counted in and outside its shared objects, in one form for side files and for lists of objects.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;

use gmon::side_file::Checksum;
use gmon::{Arc, Field, Histogram, Profile, SideFileError};

use crate::load::outside::OutsideImages;

/// The number of bytes of code that an object has at most. A damaged file may have any number, and a histogram has a
/// counter for each bin.
const MOST_CODE: u64 = 1 << 29;

/// The counts of a run that its profile does not contain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RunCounts {
    /// The shared objects.
    pub(super) objects: Vec<RunObject>,
    /// For each number that a side file has for an object, the index of the object in `objects`. An object that was closed
    /// and loaded again may have several numbers.
    pub(super) numbers: BTreeMap<u32, usize>,
    /// Calls between objects: the caller's object and address, the callee's object and address, and the count. The
    /// program has number 0. The callee's profile also contains each of these calls, from an unknown place.
    pub(super) arcs: Vec<([u64; 4], u64)>,
    /// Samples and calls outside all objects.
    pub(super) outside_images: OutsideImages,
}

impl RunCounts {
    /// The profile of the object with a number of the side file, with a histogram that covers all of the object's code.
    /// `unit` has the unit of the samples. Returns `None` if nothing was counted in the object.
    ///
    /// # Errors
    ///
    /// When the object has more code than any real object.
    pub(crate) fn profile(&self, number: u32, unit: &Histogram) -> gmon::Result<Option<Profile>> {
        let object = self.numbers.get(&number).and_then(|at| self.objects.get(*at));
        let Some(ObjectCounts::Sparse(counts)) = object.map(|object| &object.counts) else { return Ok(None) };
        if counts.bins.is_empty() && counts.arcs.is_empty() {
            return Ok(None);
        }
        let bins = counts.bins.iter().filter(|(_, ticks)| *ticks > 0);
        let hit = bins.fold(counts.code.clone(), |hit, (bin, _)| hit.start.min(bin.start)..hit.end.max(bin.end));
        let size = hit.end.saturating_sub(hit.start);
        if size > MOST_CODE {
            return Err(SideFileError::Impossible { field: Field::Size, value: size }.into());
        }
        Ok(Some(counts.profile(&hit, unit).0))
    }
}

/// A shared object of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RunObject {
    /// The number by which calls refer to the object.
    pub(super) number: u64,
    /// What [`crate::image::identity()`] returns for the object's file; `None` if the file has no build ID.
    pub(super) identity: Option<String>,
    /// The object's path when it was loaded.
    pub(super) path: PathBuf,
    pub(super) counts: ObjectCounts,
}

/// The counts of one object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ObjectCounts {
    /// A profile in a file of its own.
    File {
        /// The name of the file after the name of the program's profile and a dot.
        suffix: OsString,
        checksum: Checksum,
    },
    /// The counts themselves.
    Sparse(SparseProfile),
}

/// The samples and calls of one object, without empty bins.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SparseProfile {
    /// The addresses of the object's code, as the linker gave them.
    pub(super) code: Range<u64>,
    /// The addresses of bins, and their ticks.
    pub(super) bins: Vec<(Range<u64>, u64)>,
    pub(super) arcs: Vec<Arc>,
}

impl SparseProfile {
    /// Adds the counts of another run.
    pub(super) fn append(&mut self, later: &SparseProfile) {
        let is_first = self.code.is_empty();
        self.code = match later.code.is_empty() {
            true => self.code.clone(),
            false if is_first => later.code.clone(),
            false => self.code.start.min(later.code.start)..self.code.end.max(later.code.end),
        };
        self.bins.extend_from_slice(&later.bins);
        self.arcs.extend_from_slice(&later.arcs);
    }

    /// The number of samples.
    pub(super) fn samples(&self) -> u64 {
        self.bins.iter().fold(0, |sum, (_, ticks)| sum.saturating_add(*ticks))
    }

    /// The counts as a profile with a histogram that covers `code`. `unit` has the unit of the samples. Also returns the
    /// number of samples outside `code`.
    pub(super) fn profile(&self, code: &Range<u64>, unit: &Histogram) -> (Profile, u64) {
        let arcs = self.arcs.clone();
        let Some((first, _)) = self.bins.first() else {
            return (Profile { arcs, ..Profile::default() }, 0);
        };
        // A writer gives all bins of an object the same size.
        let size = (first.end - first.start).max(1);
        let (start, end) = (code.start / size, code.end.div_ceil(size));
        let (mut bins, mut outside) = (vec![0_u64; usize::try_from(end.saturating_sub(start)).unwrap_or(0)], 0_u64);
        for (bin, ticks) in &self.bins {
            let at = (bin.start / size).checked_sub(start).and_then(|at| usize::try_from(at).ok());
            let sum = at.and_then(|at| bins.get_mut(at)).unwrap_or(&mut outside);
            *sum = sum.saturating_add(*ticks);
        }
        let range = (start.saturating_mul(size), end.saturating_mul(size));
        let histogram = Histogram { lowpc: range.0, highpc: range.1, signed: false, bins, ..*unit };
        let histograms = if histogram.bins.is_empty() { Vec::new() } else { vec![histogram] };
        (Profile { histograms, arcs, ..Profile::default() }, outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::profile_sum::seconds;

    #[test]
    fn bins_outside_the_file_are_counted() {
        let arcs = vec![Arc { frompc: 1, selfpc: 2, count: 3 }];
        let bins = vec![(0x1000..0x1004, 5), (0x1ffc..0x2000, 6), (0x2004..0x2008, 7), (0x1000..0x1004, 1)];
        let counts = SparseProfile { code: 0x0ffd..0x3000, bins, arcs: arcs.clone() };
        let (profile, outside) = counts.profile(&(0x1000..0x2001), &seconds(100));
        let [histogram] = &profile.histograms[..] else { panic!("{profile:?}") };
        assert_eq!((histogram.lowpc, histogram.highpc, histogram.bins.len()), (0x1000, 0x2004, 0x401));
        assert_eq!(histogram.hit().collect::<Vec<_>>(), [(0, 6), (0x3ff, 6)]);
        assert_eq!((profile.arcs, outside, counts.samples()), (arcs, 7, 19));
        let (empty, outside) = counts.profile(&(0x8000..0x8000), &seconds(100));
        assert_eq!((empty.histograms, outside), (Vec::new(), 19));
    }
}
