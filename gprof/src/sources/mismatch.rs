//! Finds profiles that do not fit the image, by their addresses and by their calls.
//!
//! Compilers put a call of mcount into each function that they compile for profiling, and the selfpc of an arc is the
//! return address of that call. Where calls are counted on demand, a selfpc follows the nops that the runtime changes.
//! In an image that the profile does not belong to, these addresses rarely follow a call instruction. Measured with
//! profiles of GCC, Clang and rustc on x86-64 and AArch64, written by glibc, by FreeBSD's runtime and by ours: every
//! selfpc of a matching profile follows a call; of another program's profile, 3 to 33 percent do. Frompcs prove less,
//! because glibc and the BSDs round them down: even in a matching profile, few of them follow a call.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use gmon::{Bins, Histogram, Profile};

use crate::program::image::{CodeBytes, Image, Symbol};

/// The size of a 4.4BSD header and of a bin in bytes, for 64-bit words.
const HEADER: u64 = 40;
const BIN: u64 = 2;

/// The page sizes to which the header and the samples of a live profile are padded.
const LIVE_PAGES: [u64; 2] = [1 << 12, 1 << 16];

/// Addresses are mapped in pages, so that ranges may differ by less than a page.
const PAGE: u64 = 4096;

/// The addresses that a profile may have: those of the program's code, and those that the program's own runtime
/// samples, if the image tells. MinGW's linker may define `etext`, where the samples end, behind the code.
pub(super) fn expected_addresses(code: &Range<u64>, sampled: Option<&Range<u64>>) -> Range<u64> {
    let sampled = sampled.filter(|sampled| !sampled.is_empty()).unwrap_or(code);
    code.start.min(sampled.start)..code.end.max(sampled.end)
}

/// Checks a profile against the addresses of the program's code. Returns the warning if the profile does not fit.
pub(crate) fn find_wrong_addresses(profile: &Profile, code: &Range<u64>) -> Option<String> {
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

/// The addresses that were sampled. The range of a list of single addresses covers all addresses, so the result reaches
/// from the first to the last address with a sample.
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

/// The number of arcs that are checked at most: enough to estimate the share of all arcs.
const MOST_CHECKED: usize = 64;

/// The number of different selfpcs that are needed for a result.
const FEWEST_CHECKED: usize = 5;

/// Compares the calls of profiles with the code of an image.
pub(super) struct CallCheck<'a> {
    code: CodeBytes<'a>,
    symbols: &'a [Symbol<'a>],
    /// The addresses of all symbols, once a profile needs them.
    starts: OnceLock<HashSet<u64>>,
}

impl<'a> CallCheck<'a> {
    /// Checks profiles against an image. `code` reads the machine code of the image.
    pub(super) fn new(image: &'a Image<'_>, code: CodeBytes<'a>) -> CallCheck<'a> {
        CallCheck { code, symbols: &image.symbols, starts: OnceLock::new() }
    }

    /// Returns the warning if most selfpcs of a profile do not follow a call instruction. Returns `None` for a
    /// profile with few selfpcs, for machines whose call instructions are not known, and for code that is not in the
    /// file.
    pub(super) fn find(&self, profile: &Profile) -> Option<String> {
        let step = profile.arcs().len().div_ceil(MOST_CHECKED).max(1);
        let mut called: Vec<u64> = profile.arcs().iter().step_by(step).map(|arc| arc.selfpc).collect();
        called.sort_unstable();
        called.dedup();
        let known: Vec<(u64, bool)> =
            called.into_iter().filter_map(|selfpc| Some((selfpc, self.code.follows_counted_call(selfpc)?))).collect();
        let checked = known.len();
        let is_most = |count: usize| checked >= FEWEST_CHECKED && count * 2 > checked;
        let wrong = known.iter().filter(|(_, follows_call)| !follows_call).count();
        // In a sum that GNU gprof wrote, selfpcs are the addresses of functions.
        let are_starts = || !is_most(known.iter().filter(|(selfpc, _)| !self.is_start(*selfpc)).count());
        let is_mismatch = is_most(wrong) && !are_starts();
        is_mismatch.then(|| {
            format!(
                "the program does not call mcount at {wrong} of {checked} addresses where this profile counted calls: \
                 is it the profile of another program or build? Run gprof with the program that wrote the profile"
            )
        })
    }

    fn is_start(&self, address: u64) -> bool {
        let starts = || self.symbols.iter().map(|symbol| symbol.address).collect();
        self.starts.get_or_init(starts).contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::{Code, Machine};
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
            assert_eq!(find_wrong_addresses(&profile(Some(range), &[0x1100]), &code), None);
        }
        assert_eq!(find_wrong_addresses(&profile(None, &[]), &code), None);
        assert_eq!(find_wrong_addresses(&profile(None, &[0x1100, 9]), &code), None);
    }

    #[test]
    fn a_program_that_samples_more_than_its_code() {
        let (code, of_program) = (0x1000..0x2345, profile(Some(0x1010..0x3210), &[0x1100]));
        assert!(find_wrong_addresses(&of_program, &code).is_some());
        assert_eq!(find_wrong_addresses(&of_program, &expected_addresses(&code, Some(&(0x1010..0x320e)))), None);
        assert!(
            find_wrong_addresses(
                &profile(Some(0x1010..0x4004), &[]),
                &expected_addresses(&code, Some(&(0x1010..0x320e)))
            )
            .is_some()
        );
        assert_eq!(
            [None, Some(&Range { start: 0x5000, end: 0x1000 })].map(|sampled| expected_addresses(&code, sampled)),
            [code.clone(), code]
        );
    }

    #[test]
    fn a_live_profile_of_whole_pages() {
        let mut live = profile(Some(0x1000..0x4000), &[0x1100]);
        assert!(find_wrong_addresses(&live, &(0x1000..0x2345)).is_some());
        let padded = |highpc| {
            let bins = vec![0_u16; (4096 - 40) / 2];
            Profile::of_samples(Histogram::new(0x1000..highpc, Unit::seconds(100), bins).ok()).unwrap()
        };
        live = padded(0x4000);
        assert_eq!(find_wrong_addresses(&live, &(0x1000..0x2345)), None);
        live = padded(0x5000);
        assert!(find_wrong_addresses(&live, &(0x1000..0x2345)).is_some(), "that is more than fills a page");
    }

    #[test]
    fn a_profile_of_a_larger_program() {
        let text = find_wrong_addresses(&profile(Some(0x1000..0x9000), &[0x1100]), &(0x1000..0x2345)).unwrap();
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
            let text = find_wrong_addresses(&foreign, &(0x1000..0x2345)).unwrap();
            assert!(text.starts_with("no address in the profile is in the program (0x401000"), "{text}");
        }
    }

    const START: u64 = 0x1000;
    /// The length of each function of [`program`], and the offset of selfpc in the function.
    const FUNCTION: usize = 32;
    const SELFPC: u64 = 9;

    /// The code of this number of functions, each with a call of mcount: `push %rbp; mov %rsp,%rbp; call mcount;
    /// leave; ret`.
    fn program(functions: usize) -> Vec<u8> {
        let mut code = Vec::new();
        for _ in 0..functions {
            code.extend([0x55, 0x48, 0x89, 0xe5, 0xe8, 1, 2, 3, 0, 0xc9, 0xc3]);
            code.resize(code.len().next_multiple_of(FUNCTION), 0xcc);
        }
        code
    }

    fn symbols(functions: usize) -> Vec<Symbol<'static>> {
        let address = |at: usize| START + (at * FUNCTION) as u64;
        (0..functions).map(|at| Symbol { address: address(at), name: b"f", is_static: false, is_func: true }).collect()
    }

    /// A profile with one call of each function. Each selfpc has an offset from the start of its function.
    fn profile_of_call_mismatch(offsets: impl IntoIterator<Item = u64>) -> Profile {
        let arc = |(at, offset): (u64, u64)| Arc::new(START + 3, START + at * FUNCTION as u64 + offset, 1);
        Profile::new().with_arcs((0..).zip(offsets).map(arc))
    }

    fn find(machine: Machine, code: &[u8], profile: &Profile) -> Option<String> {
        let code = CodeBytes::in_memory(Code { machine, start: START, bytes: code });
        CallCheck { code, symbols: &symbols(100), starts: OnceLock::new() }.find(profile)
    }

    #[test]
    fn a_matching_profile() {
        let code = program(100);
        let returns = profile_of_call_mismatch([SELFPC; 100]);
        assert_eq!(find(Machine::X86_64, &code, &returns), None);
        // A sum that GNU gprof wrote has the starts of functions.
        assert_eq!(find(Machine::X86_64, &code, &profile_of_call_mismatch([0; 100])), None);
        // Addresses past the code are not checked, and a profile without calls has no mismatch.
        assert_eq!(find(Machine::X86_64, &program(2), &returns), None);
        assert_eq!(find(Machine::X86_64, &code, &Profile::default()), None);
    }

    #[test]
    fn calls_that_were_counted_on_demand() {
        // Room of gcc and of clang at the entries of functions, in code that calls no function.
        for gate in [[0x90, 0x90], [0x66, 0x90]] {
            let mut code = program(100);
            for function in code.chunks_mut(FUNCTION) {
                function.fill(0xc3);
                function[SELFPC as usize - 2..SELFPC as usize].copy_from_slice(&gate);
            }
            assert_eq!(find(Machine::X86_64, &code, &profile_of_call_mismatch([SELFPC; 100])), None);
            assert!(find(Machine::X86_64, &code, &profile_of_call_mismatch([17; 100])).is_some());
        }
    }

    #[test]
    fn a_sum_of_both_kinds() {
        let both =
            |offset: usize| profile_of_call_mismatch((0..40).map(|at| if at % 2 == offset { SELFPC } else { 0 }));
        for offset in [0, 1] {
            assert_eq!(find(Machine::X86_64, &program(100), &both(offset)), None);
        }
        // Some addresses of another program are starts by chance. (There is no code before the first.)
        let foreign = profile_of_call_mismatch((0..40).map(|at| if at % 4 == 0 { 0 } else { 17 }));
        assert!(find(Machine::X86_64, &program(100), &foreign).unwrap().contains(" at 39 of 39 addresses"));
    }

    #[test]
    fn a_foreign_profile() {
        let code = program(100);
        let text = find(Machine::X86_64, &code, &profile_of_call_mismatch([17; 10])).unwrap();
        assert!(text.starts_with("the program does not call mcount at 10 of 10 addresses"), "{text}");
        let text = find(Machine::X86_64, &code, &profile_of_call_mismatch([17; 100])).unwrap();
        assert!(text.contains(" at 50 of 50 addresses"), "every other arc of 100: {text}");
        // More than half of at least five addresses must be wrong.
        assert_eq!(find(Machine::X86_64, &code, &profile_of_call_mismatch([17, 17, 17, SELFPC, SELFPC, SELFPC])), None);
        assert!(find(Machine::X86_64, &code, &profile_of_call_mismatch([17, 17, 17, 17, SELFPC, SELFPC])).is_some());
        // Calls before the first code are not checked: five are left.
        assert!(find(Machine::X86_64, &code, &profile_of_call_mismatch([0, 17, 17, 17, 17, 17])).is_some());
        assert_eq!(find(Machine::X86_64, &code, &profile_of_call_mismatch([17; 4])), None);
        // Many calls of one function have one selfpc.
        let mut same = profile_of_call_mismatch([17; 4]);
        let first = same.arcs()[0];
        same.add_arcs((0..20).map(|at| Arc::new(START + at, first.selfpc, first.count)));
        assert_eq!(find(Machine::X86_64, &code, &same), None);
    }

    #[test]
    fn code_of_which_nothing_is_known() {
        let foreign = profile_of_call_mismatch([17; 100]);
        assert_eq!(find(Machine::Other, &program(100), &foreign), None);
        assert_eq!(find(Machine::X86_64, &vec![0; 100 * FUNCTION], &foreign), None, "the code was stripped");
        assert_eq!(find(Machine::X86_64, &[], &foreign), None);
    }
}
