//! Finds profiles whose addresses do not fit the image.

use std::ops::Range;

use gmon::{Bins, Histogram, Profile};

/// The size of a 4.4BSD header and of a bin in bytes, for 64-bit words.
const HEADER: u64 = 40;
const BIN: u64 = 2;

/// The page sizes to which the header and the samples of a live profile are padded.
const LIVE_PAGES: [u64; 2] = [1 << 12, 1 << 16];

/// Addresses are mapped in pages, so that ranges may differ by less than a page.
const PAGE: u64 = 4096;

/// The addresses that a profile may have: those of the program's code, and those that the program's own runtime
/// samples, if the image tells. MinGW's linker may define `etext`, where the samples end, behind the code.
pub(super) fn expected(code: &Range<u64>, sampled: Option<&Range<u64>>) -> Range<u64> {
    let sampled = sampled.filter(|sampled| !sampled.is_empty()).unwrap_or(code);
    code.start.min(sampled.start)..code.end.max(sampled.end)
}

/// Checks a profile against the addresses of the program's code. Returns the warning if the profile does not fit.
pub(crate) fn find(profile: &Profile, code: &Range<u64>) -> Option<String> {
    let code = code.start & !(PAGE - 1)..code.end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    let meets = |range: &Range<u64>| range.start < code.end && code.start < range.end;
    let mut ranges = profile.histograms().iter().map(sampled);
    let mut targets = profile.arcs().iter().map(|arc| arc.selfpc);
    let is_outside = |histogram: &&Histogram| {
        let range = sampled(histogram);
        range.start < code.start || code.end < range.end && !is_filled_up(histogram, code.end)
    };
    let outside = profile.histograms().iter().find(is_outside).map(sampled);
    let (what, Range { start, end }) = if ranges.clone().next().is_none() {
        let first = profile.arcs().first()?.selfpc;
        (!targets.any(|target| code.contains(&target)))
            .then_some(("no address in the profile is in the program", first..first))?
    } else if !ranges.any(|range| meets(&range)) && !targets.any(|target| code.contains(&target)) {
        ("no address in the profile is in the program", outside?)
    } else {
        ("the profile has addresses outside the program", outside?)
    };
    Some(format!(
        "{what} (0x{start:x}..0x{end:x}; code is at 0x{:x}..0x{:x}): is it the profile of another program?",
        code.start, code.end
    ))
}

/// The addresses that were sampled. The range of a list of single addresses covers all addresses, so the result reaches from the first
/// to the last address with a sample.
fn sampled(histogram: &Histogram) -> Range<u64> {
    if !matches!(histogram.bins(), Bins::Sparse { .. }) {
        return histogram.range();
    }
    let mut hit = histogram.hit().map(|(bin, _)| bin);
    let first = hit.next();
    let last = hit.last().or(first);
    let start = |bin: Option<u64>| bin.map_or(histogram.lowpc(), |bin| histogram.bin_range(bin).start);
    start(first)..last.map_or(histogram.lowpc(), |last| histogram.bin_range(last).end)
}

/// Whether a histogram extends past the code only because the file is a live profile, whose samples are padded to
/// whole pages. A bin of two bytes stands for four bytes of code.
fn is_filled_up(histogram: &Histogram, end: u64) -> bool {
    let length = HEADER + BIN * histogram.bins().len();
    LIVE_PAGES.iter().any(|page| length.is_multiple_of(*page) && histogram.highpc() - end < 2 * page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmon::{Arc, Histogram, Unit};

    fn profile(range: Option<Range<u64>>, targets: &[u64]) -> Profile {
        let histogram =
            |range: &Range<u64>| Histogram::new(range.start..range.end, Unit::seconds(100), vec![0_u16; 4]).unwrap();
        Profile::of_samples(range.iter().map(histogram))
            .unwrap()
            .with_arcs(targets.iter().map(|selfpc| Arc::new(0, *selfpc, 1)))
    }

    #[test]
    fn a_profile_of_the_program() {
        let code = 0x1000..0x2345;
        for range in [0x1000..0x2345, 0x1000..0x2348, 0x1800..0x1900, 0x1000..0x3000] {
            assert_eq!(find(&profile(Some(range), &[0x1100]), &code), None);
        }
        assert_eq!(find(&profile(None, &[]), &code), None);
        assert_eq!(find(&profile(None, &[0x1100, 9]), &code), None);
    }

    #[test]
    fn a_program_that_samples_more_than_its_code() {
        let (code, of_program) = (0x1000..0x2345, profile(Some(0x1010..0x3210), &[0x1100]));
        assert!(find(&of_program, &code).is_some());
        assert_eq!(find(&of_program, &expected(&code, Some(&(0x1010..0x320e)))), None);
        assert!(find(&profile(Some(0x1010..0x4004), &[]), &expected(&code, Some(&(0x1010..0x320e)))).is_some());
        assert_eq!(
            [None, Some(&Range { start: 0x5000, end: 0x1000 })].map(|sampled| expected(&code, sampled)),
            [code.clone(), code]
        );
    }

    #[test]
    fn a_live_profile_of_whole_pages() {
        let mut live = profile(Some(0x1000..0x4000), &[0x1100]);
        assert!(find(&live, &(0x1000..0x2345)).is_some());
        let padded = |highpc| {
            let bins = vec![0_u16; (4096 - 40) / 2];
            Profile::of_samples(Histogram::new(0x1000..highpc, Unit::seconds(100), bins).ok()).unwrap()
        };
        live = padded(0x4000);
        assert_eq!(find(&live, &(0x1000..0x2345)), None);
        live = padded(0x5000);
        assert!(find(&live, &(0x1000..0x2345)).is_some(), "that is more than fills a page");
    }

    #[test]
    fn a_profile_of_a_larger_program() {
        let text = find(&profile(Some(0x1000..0x9000), &[0x1100]), &(0x1000..0x2345)).unwrap();
        assert!(
            text.starts_with(
                "the profile has addresses outside the program (0x1000..0x9000; code is at 0x1000..0x3000)"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_profile_of_a_program_elsewhere() {
        for foreign in [profile(Some(0x40_1000..0x40_2000), &[]), profile(None, &[0x40_1000])] {
            let text = find(&foreign, &(0x1000..0x2345)).unwrap();
            assert!(text.starts_with("no address in the profile is in the program (0x401000"), "{text}");
        }
    }
}
