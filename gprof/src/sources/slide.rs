//! Moves the profile of a program that the loader of Windows moved back to the addresses of the linker.

use std::ops::Range;

use gmon::{Arc, Histogram, Profile};

/// MinGW's runtime rounds the addresses that it samples to whole bins.
const BIN: u64 = 4;

/// Windows loads programs at multiples of this number of bytes.
const GRANULARITY: u64 = 1 << 16;

/// Moves a profile back. `sampled` is the range of addresses that the program samples, at the addresses of the linker; `None` if
/// the image does not tell.
///
/// The profile stays as it is unless both ends of its only range have the same distance to `sampled`, in whole units of the
/// loader.
pub(super) fn undo(profile: &mut Profile, sampled: Option<&Range<u64>>) {
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
            undo(&mut moved, Some(&SAMPLED));
            assert_eq!(moved, profile(linked.clone()), "{start:x}");
        }
    }

    #[test]
    fn other_profiles_stay_as_they_are() {
        for range in [0x7ff6_1234_1510..0x7ff6_1234_87c4, 0x7ff6_1234_1514..0x7ff6_1234_87c4, 0x1000..0x2000] {
            let mut other = profile(range.clone());
            undo(&mut other, Some(&SAMPLED));
            assert_eq!(other, profile(range.clone()), "{range:x?}");
            undo(&mut other, None);
            assert_eq!(other, profile(range));
        }
        let mut empty = Profile::new();
        undo(&mut empty, Some(&SAMPLED));
        assert!(empty.is_empty());
    }
}
