//! Profiles with addresses of the process in place of addresses of the linker: of programs that the loader of Windows
//! moved, and samples of the whole process, as in illumos PROF files.

use std::ops::Range;

use gmon::{Arc, Bins, Histogram, Profile};

/// MinGW's runtime rounds the addresses that it samples to whole bins.
const BIN: u64 = 4;

/// Windows loads programs at multiples of this number of bytes.
const GRANULARITY: u64 = 1 << 16;

/// Moves a profile back. `sampled` is the range of addresses that the program samples, at the addresses of the linker;
/// `None` if the image does not tell.
///
/// The profile stays as it is unless both ends of its only range have the same distance to `sampled`, in whole units of
/// the loader.
pub(super) fn undo_slide(profile: &mut Profile, sampled: Option<&Range<u64>>) {
    let Some((slide, range)) = sampled.and_then(|sampled| slide(profile, sampled)) else {
        return;
    };
    for histogram in profile.take_histograms() {
        // The range is as long as before and the only one, so both succeed.
        let moved = histogram.with_range(range.clone());
        if let Ok(moved) = moved {
            let _ = profile.add_histogram(moved);
        }
    }
    for Arc { frompc, selfpc, .. } in profile.arcs_mut() {
        *frompc = frompc.wrapping_sub(slide);
        *selfpc = selfpc.wrapping_sub(slide);
    }
}

/// The distance by which the program was moved, and the range of the histogram before that.
fn slide(profile: &Profile, sampled: &Range<u64>) -> Option<(u64, Range<u64>)> {
    let [histogram] = profile.histograms() else {
        return None;
    };
    let linked = sampled.start & !(BIN - 1)..sampled.end.checked_next_multiple_of(BIN)?;
    let Range { start, end } = Histogram::range(histogram);
    let slide = start.wrapping_sub(linked.start);
    let is_moved = slide != 0 && slide.is_multiple_of(GRANULARITY) && end.wrapping_sub(linked.end) == slide;
    (is_moved && linked.start < linked.end).then_some((slide, linked))
}

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
pub(super) fn samples_elsewhere(profile: &Profile, elsewhere: u64, code: &Range<u64>) -> Option<String> {
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

    const SAMPLED: Range<u64> = 0x1_4000_1510..0x1_4000_87be;

    fn profile(range: Range<u64>) -> Profile {
        let bins = vec![1_u64; ((range.end - range.start) / BIN) as usize];
        let calls = Arc::new(range.start + 8, range.start + 0x20, 7);
        Profile::of_samples([Histogram::new(range, Unit::seconds(100), bins).unwrap()]).unwrap().with_arcs([calls])
    }

    #[test]
    fn a_program_that_was_moved() {
        let linked = 0x1_4000_1510_u64..0x1_4000_87c0;
        // Upwards, downwards, and not at all.
        for start in [0x7ff6_1234_0000_u64, 0x1_0000_0000, 0x1_4000_0000] {
            let slide = start.wrapping_sub(0x1_4000_0000);
            let mut moved = profile(linked.start.wrapping_add(slide)..linked.end.wrapping_add(slide));
            undo_slide(&mut moved, Some(&SAMPLED));
            assert_eq!(moved, profile(linked.clone()), "{start:x}");
        }
    }

    #[test]
    fn other_profiles_stay_as_they_are() {
        for range in [0x7ff6_1234_1510..0x7ff6_1234_87c4, 0x7ff6_1234_1514..0x7ff6_1234_87c4, 0x1000..0x2000] {
            let mut other = profile(range.clone());
            undo_slide(&mut other, Some(&SAMPLED));
            assert_eq!(other, profile(range.clone()), "{range:x?}");
            undo_slide(&mut other, None);
            assert_eq!(other, profile(range));
        }
        let mut empty = Profile::new();
        undo_slide(&mut empty, Some(&SAMPLED));
        assert!(empty.is_empty());
    }

    fn profile_of_raw_samples(range: Range<u64>, counts: &[(u64, u64)]) -> Profile {
        let bins = Bins::sparse(range.end - range.start, counts.to_vec()).unwrap();
        Profile::of_samples([Histogram::new(range, Unit::seconds(100), bins).unwrap()]).unwrap()
    }

    #[test]
    fn samples_outside_the_program_are_counted() {
        let mut raw =
            profile_of_raw_samples(0..u64::MAX, &[(0xfff, 1), (0x1000, 2), (0x1fff, 3), (0x2000, 4), (1 << 60, 5)]);
        assert_eq!(keep_program(&mut raw, &(0x1000..0x2000)), 10);
        assert_eq!(raw, profile_of_raw_samples(0x1000..0x2000, &[(0, 2), (0xfff, 3)]));
        assert_eq!(samples_elsewhere(&raw, 10, &(0x1000..0x2000)), None);
        // Samples of a range stay as they are.
        let mut same = raw.clone();
        assert_eq!((keep_program(&mut same, &(0..4)), &same), (0, &raw));
        let mut other = profile_of_raw_samples(0..u64::MAX, &[(1 << 60, 5)]);
        assert_eq!(keep_program(&mut other, &(0x1000..0x2000)), 5);
        assert!(samples_elsewhere(&other, 5, &(0x1000..0x2000)).unwrap().starts_with("no sample in the profile"));
        assert_eq!(keep_program(&mut Profile::new(), &(0..4)), 0);
    }
}
