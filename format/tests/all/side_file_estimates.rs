//! Tests of calls that were estimated from windows, in side files and in their sums.

use std::collections::BTreeMap;

use crate::side::{code, selection, side_file, small};
use gmon::encode::side_file::{EstimateEncoder, Piece};
use gmon::layout::side_file::{ESTIMATES, REQUIRED};
use gmon::side_file::{Accumulator, ELSEWHERE, EstimatedCalls, Kind, Object, Place, SideFile, Windows, property};
use gmon::{Error, Part};
use proptest::prelude::*;

const WINDOWS: Windows = Windows { share: 10_000, number: 300, covered: 3_010_000_000, time: 300_000_000_000 };

fn sum<'a>(files: impl IntoIterator<Item = &'a SideFile>) -> SideFile {
    let mut sum = Accumulator::new();
    for file in files {
        sum.add(file).unwrap();
    }
    sum.finish()
}

/// A row of calls of the program's function at an address.
fn row(callee: u64, caller: Option<Place>, (seen, calls, variance): (u64, u64, u128)) -> EstimatedCalls {
    EstimatedCalls { callee: code(callee), caller, seen, calls, variance }
}

fn estimated(windows: Windows, rows: &[EstimatedCalls]) -> SideFile {
    let mut side = small();
    side.set_windows(windows).unwrap();
    rows.iter().for_each(|row| side.add_estimate(*row).unwrap());
    side
}

fn rows(side: &SideFile) -> &[EstimatedCalls] {
    side.estimates().unwrap().rows()
}

fn elsewhere(address: u64) -> Place {
    Place { object: ELSEWHERE, address }
}

/// The sums of all windows with calls, of all calls, and of all variances, by whether the caller is known.
fn totals(side: &SideFile) -> BTreeMap<bool, (u64, u64, u128)> {
    let mut totals = BTreeMap::new();
    for row in side.estimates().iter().flat_map(|estimates| estimates.rows()) {
        let sums: &mut (u64, u64, u128) = totals.entry(row.caller.is_some()).or_default();
        *sums = (sums.0 + row.seen, sums.1 + row.calls, sums.2 + row.variance);
    }
    totals
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Fails if a sum loses or doubles windows, calls, or variances, or if the order of the files or a sum on the way
    /// changes the result.
    #[test]
    fn a_sum_has_the_estimates_of_all_files(files in prop::collection::vec(side_file(), 2..5)) {
        let whole = sum(&files);
        let all: Vec<Windows> = files.iter().filter_map(|file| Some(file.estimates()?.windows())).collect();
        prop_assert_eq!(whole.estimates().is_some(), !all.is_empty());
        if let Some(estimates) = whole.estimates() {
            let windows = estimates.windows();
            prop_assert_eq!(windows.number, all.iter().map(|one| one.number).sum::<u64>());
            prop_assert_eq!(windows.covered, all.iter().map(|one| one.covered).sum::<u64>());
            prop_assert_eq!(windows.time, all.iter().map(|one| one.time).sum::<u64>());
            let is_same = all.iter().all(|one| one.share == all[0].share);
            prop_assert_eq!(windows.share, if is_same { all[0].share } else { 0 });
        }
        let mut expected: BTreeMap<bool, (u64, u64, u128)> = BTreeMap::new();
        for (of_callers, (seen, calls, variance)) in files.iter().flat_map(totals) {
            let sums = expected.entry(of_callers).or_default();
            *sums = (sums.0 + seen, sums.1 + calls, sums.2 + variance);
        }
        let found = totals(&whole);
        prop_assert!(found.keys().eq(expected.keys()));
        for (of_callers, (seen, calls, variance)) in expected {
            let (found_seen, found_calls, found_variance) = found[&of_callers];
            prop_assert_eq!((found_calls, found_variance), (calls, variance));
            prop_assert!(found_seen <= seen, "{} of {}", found_seen, seen);
        }
        let backwards = sum(files.iter().rev());
        prop_assert_eq!(backwards.estimates(), whole.estimates());
        let (first, rest) = files.split_first().unwrap();
        let of_sum = sum([&sum(rest), first]);
        prop_assert_eq!(of_sum.estimates(), whole.estimates());
        prop_assert_eq!(SideFile::parse(&whole.write()), Ok(whole));
    }
}

/// Fails if the encoder and the library write different bytes, if the part has not the flag that lets other readers
/// refuse the file, or if the halves of a variance are exchanged.
#[test]
fn the_encoder_writes_what_the_library_writes() {
    let callers = [elsewhere(0), code(0x1030)].map(Some);
    let large = (5, u64::MAX >> 3, 3 << 64 | 7);
    let side = estimated(
        Windows { share: 1, number: 5, covered: 6, time: 7 },
        &[
            row(0x1010, None, (2, 3, 4)),
            row(0x1010, callers[1], (1, 2, 3)),
            row(0x1020, None, large),
            row(0x1020, callers[1], large),
            row(0x1020, callers[0], (1, 1, 0)),
        ],
    );
    let mut buffer = [0; 128];
    let mut out = Piece::new(&mut buffer);
    let mut encoder = EstimateEncoder::begin(&mut out, 1, 5, 6, 7);
    for EstimatedCalls { callee, caller, seen, calls, variance } in rows(&side).iter().copied() {
        match caller {
            None => encoder.all_callers(&mut out, callee, seen, calls, variance),
            Some(caller) => encoder.caller(&mut out, caller, callee, seen, calls, variance),
        }
    }
    let content = out.content().to_vec();
    let start = [1, 5, 6, 7, 0, 0, 0xa0, 0x40, 2, 3, 0, 4, 1, 0xe0, 0x40, 0, 0, 1, 2, 0, 3, 0, 0, 0x20, 5];
    assert_eq!(content[..start.len()], start);
    let written = side.write();
    let mut part = Vec::new();
    part.extend(ESTIMATES);
    part.extend(REQUIRED.to_le_bytes());
    part.extend((content.len() as u64).to_le_bytes());
    part.extend(&content);
    assert!(written.windows(part.len()).any(|bytes| bytes == part));
}

/// Fails if the rows of a second part replace those of the first, or if other windows pass.
#[test]
fn several_parts_are_one_list() {
    let file = |parts: &[(Windows, &[EstimatedCalls])]| {
        let mut side = small();
        for (windows, rows) in parts {
            side.set_windows(*windows)?;
            rows.iter().try_for_each(|row| side.add_estimate(*row))?;
        }
        Ok(side)
    };
    let all = [row(1, None, (1, 2, 3)), row(1, Some(code(9)), (1, 2, 3)), row(2, None, (4, 5, 6))];
    assert_eq!(file(&[(WINDOWS, &all[..1]), (WINDOWS, &all[1..])]), Ok(estimated(WINDOWS, &all)));
    let other = Windows { time: 1, ..WINDOWS };
    let error = Error::Impossible { part: Part::Windows, value: 300 };
    assert_eq!(file(&[(WINDOWS, &all[..1]), (other, &all[1..])]), Err(error));
    assert_eq!(small().add_estimate(all[0]), Err(Error::Impossible { part: Part::Windows, value: 0 }));
}

/// Fails if a sum takes the larger of two numbers, or that of one file.
#[test]
fn a_sum_adds_each_number() {
    let one = estimated(WINDOWS, &[row(1, None, (10, 200, 30)), row(1, Some(code(9)), (10, 200, 30))]);
    let other = Windows { share: 20_000, number: 2, covered: 3, time: 4 };
    let other = estimated(other, &[row(1, None, (1, 7, 5)), row(2, None, (2, 8, 6))]);
    let both = sum([&one, &other]);
    let windows = Windows { share: 0, number: 302, covered: 3_010_000_003, time: 300_000_000_004 };
    assert_eq!(both.estimates().unwrap().windows(), windows);
    let expected = [row(1, None, (11, 207, 35)), row(1, Some(code(9)), (10, 200, 30)), row(2, None, (2, 8, 6))];
    assert_eq!(rows(&both), expected);
    // Files without estimates change nothing.
    assert_eq!(sum([&small(), &one]).estimates(), one.estimates());
    assert_eq!(sum([&small(), &small()]).estimates(), None);
}

/// Fails if rows that get the same place stay apart, or if calls are seen in more windows than there are.
#[test]
fn callers_elsewhere_become_one_in_a_sum() {
    let callers = [elsewhere(5), elsewhere(7)].map(Some);
    let all = [row(1, None, (250, 9, 9)), row(1, callers[0], (200, 4, 5)), row(1, callers[1], (180, 5, 6))];
    let side = estimated(WINDOWS, &all);
    let expected = [all[0], row(1, Some(elsewhere(0)), (300, 9, 11))];
    assert_eq!(rows(&sum([&side])), expected);
    let twice = expected.map(|EstimatedCalls { seen, calls, variance, .. }| (2 * seen, 2 * calls, 2 * variance));
    assert_eq!(rows(&sum([&side, &side])), [row(1, None, twice[0]), row(1, Some(elsewhere(0)), twice[1])]);
}

/// Fails if a place keeps the number that its object has in one file.
#[test]
fn places_of_a_sum_are_those_of_the_sum() {
    let file = |first: u32, second: u32| {
        let mut side = small();
        for (number, path) in [(first, b"/lib/a.so"), (second, b"/lib/b.so")] {
            side.add_object(number, Object::new(Kind::Shared, path)).unwrap();
        }
        side.set_windows(WINDOWS).unwrap();
        let mut rows = [(first, 5), (second, 3)];
        rows.sort_unstable();
        for (object, address) in rows {
            let callee = Place { object, address };
            let row = EstimatedCalls { callee, seen: 1, calls: address, ..EstimatedCalls::default() };
            side.add_estimate(row).unwrap();
            let caller = Some(Place { object: second, address: 1 });
            side.add_estimate(EstimatedCalls { caller, ..row }).unwrap();
        }
        side
    };
    let sum = sum([&file(7, 3), &file(3, 7)]);
    let found: Vec<_> = rows(&sum).iter().map(|row| (row.callee.object, row.caller, row.calls)).collect();
    let caller = Some(Place { object: 2, address: 1 });
    assert_eq!(found, [(1, None, 10), (1, caller, 10), (2, None, 6), (2, caller, 6)]);
}

/// Fails if a sum that does not fit changes the accumulator, or wraps.
#[test]
fn a_sum_that_does_not_fit_is_refused() {
    let most = u64::MAX;
    for (large, count) in [
        (estimated(WINDOWS, &[row(1, None, (1, most, 0))]), most),
        (estimated(WINDOWS, &[row(1, None, (1, 3, u128::MAX))]), 3),
        (estimated(Windows { number: most, ..WINDOWS }, &[]), most),
        (estimated(Windows { covered: most, ..WINDOWS }, &[]), most),
        (estimated(Windows { time: most, ..WINDOWS }, &[]), most),
    ] {
        let mut sum = Accumulator::new();
        let small = estimated(WINDOWS, &[row(1, None, (1, 1, 1))]);
        sum.add(&small).unwrap();
        let error = Error::Impossible { part: Part::Count, value: count };
        assert_eq!(sum.add(&large), Err(error));
        assert_eq!(sum.finish().estimates(), small.estimates());
    }
}

/// Fails if estimates of the whole run pass for those of a part of the run, or if functions without estimates then
/// look as if they were never called.
#[test]
fn the_time_between_two_snapshots_has_no_estimates() {
    let of = |elapsed: &[u8], calls| {
        let mut side = estimated(WINDOWS, &[row(1, None, (1, calls, 2))]);
        side.add_property(property::ELAPSED, elapsed).unwrap();
        side.add_selection(selection(b"", &[1, 2], &[])).unwrap();
        side.add_selection(selection(b"b*", &[3], &[(10, 90)])).unwrap();
        side
    };
    let patterns = |side: &SideFile| -> Vec<Vec<u8>> {
        side.selections().unwrap().iter().map(|one| one.pattern().to_vec()).collect()
    };
    let difference = of(b"100", 5).since(&of(b"40", 9)).unwrap();
    assert_eq!((difference.estimates(), patterns(&difference)), (None, vec![b"b*".to_vec()]));
    // Without the time of the earlier file, the other intervals stay.
    let difference = of(b"100", 5).since(&small()).unwrap();
    assert_eq!((difference.estimates(), patterns(&difference)), (None, vec![b"b*".to_vec()]));
}

/// Fails if a caller in generated code stays elsewhere, or if two callers in one function stay apart.
#[test]
fn callers_in_generated_code_get_a_function() {
    let callers = [0x1004, 0x1008, 0x2004].map(|address| Some(elsewhere(address)));
    let all = [
        row(1, None, (9, 60, 9)),
        row(1, callers[0], (1, 10, 1)),
        row(1, callers[1], (2, 20, 2)),
        row(1, callers[2], (3, 30, 3)),
    ];
    let mut side = estimated(WINDOWS, &all);
    assert!(side.has_unnamed_code());
    assert!(side.name_generated_code(b"1000 10 fast\n"));
    let at = |address| Some(Place { object: 1, address });
    // By name: `[jit]` and `fast`.
    let expected = [all[0], row(1, at(8), (3, 30, 3)), row(1, at(24), (3, 30, 3))];
    assert_eq!(rows(&side), expected);
    assert_eq!(SideFile::parse(&side.write()), Ok(side));
}
