//! Samples that are addresses of the whole process, as in illumos PROF files.

use std::ops::Range;

use gmon::{Bins, Histogram, Profile};

/// Keeps the samples in the code of the program. Returns the number of samples elsewhere, in other modules of the
/// process; 0 for profiles whose samples are of an address range.
pub(super) fn keep_program(profile: &mut Profile, code: &Range<u64>) -> u64 {
    let [histogram] = profile.histograms() else { return 0 };
    let Bins::Sparse { counts, .. } = histogram.bins() else { return 0 };
    if histogram.range() != (0..u64::MAX) || code.is_empty() {
        return 0;
    }
    let inside = counts.iter().filter(|(pc, _)| code.contains(pc));
    let counts: Vec<(u64, u64)> = inside.map(|(pc, count)| (pc - code.start, *count)).collect();
    let bins = Bins::Sparse { bins: code.end - code.start, counts };
    let Ok(kept) = Histogram::new(code.clone(), histogram.unit(), bins) else { return 0 };
    let elsewhere = u64::try_from(histogram.total() - kept.total()).unwrap_or(u64::MAX);
    profile.take_histograms();
    // A profile without histograms accepts any histogram.
    let _ = profile.add_histogram(kept);
    elsewhere
}

/// The warning about a profile of which all samples are elsewhere.
pub(super) fn mismatch(profile: &Profile, elsewhere: u64, code: &Range<u64>) -> Option<String> {
    let has_samples = profile.histograms().iter().any(|histogram| histogram.hit().next().is_some());
    (elsewhere > 0 && !has_samples).then(|| {
        format!(
            "no sample in the profile is in the program (code is at 0x{:x}..0x{:x}): is it the profile of another \
             program?",
            code.start, code.end
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmon::Unit;

    fn profile(range: Range<u64>, counts: &[(u64, u64)]) -> Profile {
        let bins = Bins::sparse(range.end - range.start, counts.to_vec()).unwrap();
        Profile::of_samples([Histogram::new(range, Unit::seconds(100), bins).unwrap()]).unwrap()
    }

    #[test]
    fn samples_outside_the_program_are_counted() {
        let mut raw = profile(0..u64::MAX, &[(0xfff, 1), (0x1000, 2), (0x1fff, 3), (0x2000, 4), (1 << 60, 5)]);
        assert_eq!(keep_program(&mut raw, &(0x1000..0x2000)), 10);
        assert_eq!(raw, profile(0x1000..0x2000, &[(0, 2), (0xfff, 3)]));
        assert_eq!(mismatch(&raw, 10, &(0x1000..0x2000)), None);
        // Samples of a range stay as they are.
        let mut same = raw.clone();
        assert_eq!((keep_program(&mut same, &(0..4)), &same), (0, &raw));
        let mut other = profile(0..u64::MAX, &[(1 << 60, 5)]);
        assert_eq!(keep_program(&mut other, &(0x1000..0x2000)), 5);
        assert!(mismatch(&other, 5, &(0x1000..0x2000)).unwrap().starts_with("no sample in the profile"));
        assert_eq!(keep_program(&mut Profile::new(), &(0..4)), 0);
    }
}
