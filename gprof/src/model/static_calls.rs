//! Calls that the machine code contains, whether the calls happened or not.

use std::ops::Range;

use gmon::Histogram;

use crate::program::image::{Code, Machine, call_aarch64, call_x86};
use crate::program::symbols::functions::{FunctionId, Functions};

/// Finds the calls from function to function in the machine code of an image, in the order of addresses.
///
/// Only code in the range of a histogram counts. Without histograms, all code counts if `all` is set, and no code if it
/// is not. Without `all`, the last function has no calls, and distances on x86 are unsigned, which misses calls to
/// lower addresses; GNU gprof does the same.
#[must_use]
pub fn find(
    code: &Code<'_>,
    functions: &Functions<'_>,
    histograms: &[Histogram],
    all: bool,
) -> Vec<(FunctionId, FunctionId)> {
    // Histograms do not overlap, but stand in the order of the file.
    let mut ranges: Vec<Range<u64>> =
        histograms.iter().map(|histogram| histogram.lowpc()..histogram.highpc()).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let sampled = |range: Range<u64>| {
        if ranges.is_empty() {
            return all.then_some(range);
        }
        let sampled = ranges.get(ranges.partition_point(|sampled| sampled.end <= range.start))?;
        let common = range.start.max(sampled.start)..range.end.min(sampled.end);
        (common.start < common.end).then_some(common)
    };
    let is_sampled = |address: u64| sampled(address..address.saturating_add(1)).is_some();
    let mut found = Vec::new();
    let end_of_code = code.start.saturating_add(code.bytes.len() as u64);
    let callers = functions.len().saturating_sub(usize::from(!all));
    for caller in functions.overlapping(&(code.start..end_of_code)).filter(|id| id.index() < callers) {
        let function = &functions[caller];
        let Some(range) = sampled(function.address..function.last.saturating_add(1)) else {
            continue;
        };
        for target in targets(code, range, all).filter(|target| is_sampled(*target)) {
            found.extend(functions.find(target).filter(|id| functions[*id].address == target).map(|id| (caller, id)));
        }
    }
    found
}

/// Returns the targets of the instructions in `range` that look like calls.
fn targets<'a>(code: &'a Code<'_>, range: Range<u64>, all: bool) -> impl Iterator<Item = u64> + use<'a> {
    let step = code.machine.step();
    let start = range.start.max(code.start).next_multiple_of(step as u64);
    let end = range.end.min(code.start.saturating_add(code.bytes.len() as u64));
    (start..end).step_by(step).filter_map(move |pc| {
        let bytes = code.bytes.get(usize::try_from(pc - code.start).ok()?..)?;
        match code.machine {
            Machine::X86 | Machine::X86_64 => {
                let distance = call_x86(bytes)?;
                let next = pc.wrapping_add(5);
                Some(if !all {
                    next.wrapping_add(u64::from(distance.cast_unsigned()))
                } else if code.machine == Machine::X86 {
                    u64::from((next as u32).wrapping_add_signed(distance))
                } else {
                    next.wrapping_add_signed(i64::from(distance))
                })
            }
            Machine::Aarch64 => Some(pc.wrapping_add_signed(call_aarch64(bytes)?)),
            Machine::Other => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(machine: Machine, bytes: &[u8], all: bool) -> Vec<u64> {
        let code = Code { machine, start: 0x1000, bytes };
        targets(&code, 0x1000..0x2000, all).collect()
    }

    #[test]
    fn calls_forward_and_backward() {
        assert_eq!(found(Machine::X86_64, &[0xe8, 0x0b, 0, 0, 0], false), [0x1010]);
        let backward = [0xe8, 0xf0, 0xff, 0xff, 0xff];
        assert_eq!(found(Machine::X86_64, &backward, true), [0xff5]);
        assert_eq!(found(Machine::X86_64, &backward, false), [0x1_0000_0ff5]);
        assert_eq!(found(Machine::X86, &backward, false), [0x1_0000_0ff5]);
        assert_eq!(found(Machine::X86, &backward, true), [0xff5]);
        assert!(found(Machine::X86_64, &backward[..4], true).is_empty());
    }

    #[test]
    fn branches_with_link() {
        assert_eq!(found(Machine::Aarch64, &[0x02, 0, 0, 0x94], true), [0x1008]);
        assert_eq!(found(Machine::Aarch64, &[0, 0, 0, 0x14, 0xff, 0xff, 0xff, 0x97], true), [0x1000]);
        assert!(found(Machine::Other, &[0xe8, 0, 0, 0, 0], true).is_empty());
    }

    /// The calls in code of three functions of 16 bytes: each calls the next one, and the last one the one before.
    fn calls(ranges: &[(u64, u64)], all: bool) -> Vec<(usize, usize)> {
        let symbol = |at: u64| crate::program::image::Symbol {
            address: 0x1000 + 16 * at,
            name: b"f",
            is_static: false,
            is_func: true,
        };
        let functions = Functions::new((0..3).map(symbol).collect(), 0x1030);
        let mut bytes = vec![0; 0x30];
        for (at, call) in [(0, [4, 0, 0, 0x94]), (0x10, [4, 0, 0, 0x94]), (0x20, [0xfc, 0xff, 0xff, 0x97])] {
            bytes[at..at + 4].copy_from_slice(&call);
        }
        let code = Code { machine: Machine::Aarch64, start: 0x1000, bytes: &bytes };
        let histogram =
            |(start, end): &(u64, u64)| Histogram::new(*start..*end, gmon::Unit::seconds(100), vec![1_u64]).unwrap();
        let histograms: Vec<Histogram> = ranges.iter().map(histogram).collect();
        find(&code, &functions, &histograms, all).into_iter().map(|(from, to)| (from.index(), to.index())).collect()
    }

    #[test]
    fn the_last_function_has_calls_only_if_all_count() {
        assert_eq!(calls(&[], true), [(0, 1), (1, 2), (2, 1)]);
        assert_eq!(calls(&[(0x1000, 0x1030)], true), [(0, 1), (1, 2), (2, 1)]);
        assert_eq!(calls(&[(0x1000, 0x1030)], false), [(0, 1), (1, 2)]);
        assert_eq!(calls(&[], false), []);
    }

    #[test]
    fn targets_outside_of_the_sampled_code_do_not_count() {
        // The range begins one byte behind the second function.
        assert_eq!(calls(&[(0x1000, 0x1010), (0x1011, 0x1030)], true), []);
        assert_eq!(calls(&[(0x1000, 0x1010), (0x1010, 0x1011)], true), [(0, 1)]);
    }
}
