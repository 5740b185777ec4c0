//! What a run counted in and outside its shared objects, in one form for side files and for lists of objects.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;

use gmon::side_file::Checksum;
use gmon::{Arc, Histogram, Profile, Unit};

/// The number of bins of a histogram that covers all code of an object. A damaged file may have code of any size, and a
/// histogram has a counter for each bin. Bins of four bytes cover 64 megabytes of code.
const MOST_BINS: u64 = 1 << 24;

/// Histograms that cover parts of the code are this many bins apart. A histogram's header is about as long as this many
/// bins, so the length of the profile is in proportion to the number of bins with samples.
const GAP: u64 = 32;

/// The counts of a run that its profile does not contain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RunCounts {
    /// The shared objects.
    pub(super) objects: Vec<RunObject>,
    /// For each number that a side file has for an object, the index of the object in `objects`. An object that was
    /// closed and loaded again may have several numbers.
    pub(super) numbers: BTreeMap<u32, usize>,
    /// Calls between objects: the caller's object and address, the callee's object and address, and the count. The
    /// program has number 0. The callee's profile also contains each of these calls, from an unknown place.
    pub(super) arcs: Vec<([u64; 4], u64)>,
    /// Samples and calls outside all objects.
    pub(super) outside_images: OutsideImages,
}

impl RunCounts {
    /// The profile of the object with a number of the side file. A histogram covers all of the object's code; if the
    /// code is larger than that of real objects, histograms cover the parts with samples. `unit` has the unit of the
    /// samples. Returns `None` if nothing was counted in the object.
    pub(crate) fn profile(&self, number: u32, unit: Unit) -> Option<Profile> {
        let object = self.numbers.get(&number).and_then(|at| self.objects.get(*at));
        let ObjectCounts::Sparse(counts) = &object?.counts else { return None };
        if counts.bins.is_empty() && counts.arcs.is_empty() {
            return None;
        }
        let bins = counts.bins.iter().filter(|(_, ticks)| *ticks > 0);
        let hit = bins.fold(counts.code.clone(), |hit, (bin, _)| hit.start.min(bin.start)..hit.end.max(bin.end));
        let is_real = hit.end.saturating_sub(hit.start) / counts.bin_size() <= MOST_BINS;
        Some(if is_real { counts.profile(&hit, unit).0 } else { counts.parts(unit) })
    }
}

/// A shared object of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RunObject {
    /// The number by which calls refer to the object.
    pub(super) number: u64,
    /// What [`crate::program::image::identity()`] returns for the object's file; `None` if the file has no build ID.
    pub(super) identity: Option<String>,
    /// The object's path when it was loaded.
    pub(super) path: PathBuf,
    /// The names of functions, if the object has no file because the program generated the code.
    pub(super) functions: Vec<Box<[u8]>>,
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

    /// The counts as a profile with a histogram that covers `code`. `unit` has the unit of the samples. Also returns
    /// the number of samples outside `code`.
    pub(super) fn profile(&self, code: &Range<u64>, unit: Unit) -> (Profile, u64) {
        let arcs = self.arcs.clone();
        if self.bins.is_empty() {
            return (Profile::new().with_arcs(arcs), 0);
        }
        let size = self.bin_size();
        let (start, end) = (code.start / size, code.end.div_ceil(size));
        let (mut bins, mut outside) = (vec![0_u64; usize::try_from(end.saturating_sub(start)).unwrap_or(0)], 0_u64);
        for (bin, ticks) in &self.bins {
            let at = (bin.start / size).checked_sub(start).and_then(|at| usize::try_from(at).ok());
            let sum = at.and_then(|at| bins.get_mut(at)).unwrap_or(&mut outside);
            *sum = sum.saturating_add(*ticks);
        }
        let range = start.saturating_mul(size)..end.saturating_mul(size);
        (profile([(range, bins)], unit, arcs), outside)
    }

    /// The size of a bin. A writer gives all bins of an object the same size.
    fn bin_size(&self) -> u64 {
        self.bins.first().map_or(1, |(bin, _)| bin.end.saturating_sub(bin.start).max(1))
    }

    /// The counts as a profile with a histogram for each part of the code that has samples.
    fn parts(&self, unit: Unit) -> Profile {
        let size = self.bin_size();
        let mut ticks: BTreeMap<u64, u64> = BTreeMap::new();
        for (bin, count) in self.bins.iter().filter(|(_, count)| *count > 0) {
            let sum = ticks.entry(bin.start / size).or_insert(0);
            *sum = sum.saturating_add(*count);
        }
        let mut parts: Vec<(Range<u64>, Vec<u64>)> = Vec::new();
        for (at, count) in ticks {
            let lowpc = at.saturating_mul(size);
            let highpc = lowpc.saturating_add(size);
            let near = |(last, _): &&mut (Range<u64>, Vec<u64>)| (lowpc - last.end) / size < GAP;
            match parts.last_mut().filter(near) {
                Some((last, bins)) => {
                    bins.extend((0..(lowpc - last.end) / size).map(|_| 0).chain([count]));
                    last.end = highpc;
                }
                None => parts.push((lowpc..highpc, vec![count])),
            }
        }
        profile(parts, unit, self.arcs.clone())
    }
}

/// A profile of disjoint ranges with bins of one size. A range without bins is left out.
fn profile(parts: impl IntoIterator<Item = (Range<u64>, Vec<u64>)>, unit: Unit, arcs: Vec<Arc>) -> Profile {
    let histograms = parts.into_iter().filter_map(|(range, bins)| Histogram::new(range, unit, bins).ok());
    Profile::of_samples(histograms).unwrap_or_default().with_arcs(arcs)
}

/// The number of samples outside all images, and of calls of functions outside all images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideImages {
    /// Samples in the kernel.
    pub kernel: u64,
    /// Samples in the vDSO, the code that the kernel maps into every process.
    pub vdso: u64,
    /// Samples at any other address.
    pub elsewhere: u64,
    /// Calls of functions outside all images.
    pub calls: u64,
}

impl OutsideImages {
    /// Adds the numbers of another run.
    pub fn add(&mut self, other: &OutsideImages) {
        let OutsideImages { kernel, vdso, elsewhere, calls } = self;
        let sums = [(kernel, other.kernel), (vdso, other.vdso), (elsewhere, other.elsewhere), (calls, other.calls)];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmon::Bins;

    #[test]
    fn bins_outside_the_file_are_counted() {
        let arcs = vec![Arc::new(1, 2, 3)];
        let bins = vec![(0x1000..0x1004, 5), (0x1ffc..0x2000, 6), (0x2004..0x2008, 7), (0x1000..0x1004, 1)];
        let counts = SparseProfile { code: 0x0ffd..0x3000, bins, arcs: arcs.clone() };
        let (profile, outside) = counts.profile(&(0x1000..0x2001), Unit::seconds(100));
        let [histogram] = profile.histograms() else { panic!("{profile:?}") };
        assert_eq!((histogram.lowpc(), histogram.highpc(), histogram.bins().len()), (0x1000, 0x2004, 0x401));
        assert_eq!(histogram.hit().collect::<Vec<_>>(), [(0, 6), (0x3ff, 6)]);
        assert_eq!((profile.arcs(), outside, counts.samples()), (&arcs[..], 7, 19));
        let (empty, outside) = counts.profile(&(0x8000..0x8000), Unit::seconds(100));
        assert_eq!((empty.histograms(), outside), (&[][..], 19));
    }

    /// Two ticks at the ends of a huge object make a small profile.
    #[test]
    fn huge_objects_have_a_histogram_for_each_part() {
        const FAR: u64 = 1 << 40;
        let bins = vec![(FAR..FAR + 4, 5), (0x1000..0x1004, 1), (0x100c..0x1010, 2), (0x1000..0x1004, 3)];
        let counts = ObjectCounts::Sparse(SparseProfile { code: 0x1000..FAR + 4, bins, arcs: Vec::new() });
        let object = RunObject { number: 1, identity: None, path: PathBuf::new(), functions: Vec::new(), counts };
        let counts = RunCounts { objects: vec![object], numbers: [(7, 0)].into(), ..RunCounts::default() };
        let profile = counts.profile(7, Unit::seconds(100)).unwrap();
        let parts = profile.histograms().iter().map(|part| (part.range(), part.bins().clone()));
        let bins = |counts: &[u16]| Bins::U16(counts.to_vec());
        assert_eq!(parts.collect::<Vec<_>>(), [(0x1000..0x1010, bins(&[4, 0, 0, 2])), (FAR..FAR + 4, bins(&[5]))]);
    }
}
