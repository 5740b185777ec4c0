//! Tests of calls that were counted on demand, in side files and in their sums.

use std::collections::BTreeMap;
use std::iter;

use crate::side::{code, selection, side_file, small};
use gmon::encode::side_file::{Piece, SelectionEncoder};
use gmon::layout::side_file::SELECTIONS;
use gmon::side_file::{Accumulator, ELSEWHERE, Kind, Object, Place, Selection, SideFile, property};
use gmon::{Error, Part};
use proptest::prelude::*;

fn sum<'a>(files: impl IntoIterator<Item = &'a SideFile>) -> SideFile {
    let mut sum = Accumulator::new();
    for file in files {
        sum.add(file).unwrap();
    }
    sum.finish()
}

/// A file with one selection of the function at this address.
fn selecting(pattern: &[u8], address: u64, intervals: &[(u64, u64)]) -> SideFile {
    let mut side = small();
    side.add_selection(selection(pattern, &[address], intervals)).unwrap();
    side
}

fn with_elapsed(mut side: SideFile, elapsed: u64) -> SideFile {
    side.add_property(property::ELAPSED, elapsed.to_string().as_bytes()).unwrap();
    side
}

/// The pattern, the time, and the intervals of a selection.
type Facts<'a> = (&'a [u8], u64, Vec<(u64, u64)>);

fn selections(side: &SideFile) -> Vec<Facts<'_>> {
    let selections = side.selections().unwrap().iter();
    let intervals = |selection: &Selection| selection.intervals().iter().map(|one| (one.start, one.end)).collect();
    selections.map(|selection| (selection.pattern(), selection.time(), intervals(selection))).collect()
}

/// Whether a time belongs to an interval of any selection of whole runs, or of other selections.
fn is_counted(side: &SideFile, time: u64, of_whole_runs: bool) -> bool {
    let mut selections = side.selections().unwrap_or_default().iter();
    selections.any(|selection| {
        selection.is_of_whole_runs() == of_whole_runs && selection.intervals().iter().any(|one| one.contains(&time))
    })
}

/// How many of the times up to this one are counted. The files of the strategy have no later times.
fn counted(side: &SideFile, of_whole_runs: bool) -> u64 {
    (0..LAST).filter(|time| is_counted(side, *time, of_whole_runs)).count() as u64
}

const LAST: u64 = 10_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Fails if a sum loses or doubles the time of a selection, of whole runs, or of any calls.
    #[test]
    fn a_sum_has_the_time_of_all_files(files in prop::collection::vec(side_file(), 2..6)) {
        let sum = sum(&files);
        let times = |file: &SideFile| {
            let mut times: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            for pattern in file.selections().unwrap_or_default().iter().map(Selection::pattern) {
                let of_pattern = file.selections().unwrap_or_default().iter().filter(|one| one.pattern() == pattern);
                times.insert(pattern.to_vec(), of_pattern.map(Selection::time).sum());
            }
            times
        };
        let is_on_demand = files.iter().any(|file| file.selections().is_some());
        prop_assert_eq!(sum.selections().is_some(), is_on_demand);
        if !is_on_demand {
            return Ok(());
        }
        let any: u64 = files.iter().map(|file| counted(file, false)).sum();
        prop_assert_eq!(counted(&sum, false), any);
        let whole_runs = |file: &SideFile| match file.selections() {
            None => file.elapsed(),
            Some(_) => file.elapsed().map(|_| counted(file, true)),
        };
        let whole = files.iter().map(whole_runs).sum::<Option<u64>>();
        prop_assert_eq!(counted(&sum, true), whole.unwrap_or(0));
        prop_assert_eq!(sum.counted_time(), Some(any + whole.unwrap_or(0)));
        // Equal selections of one file may overlap, and count once.
        for (pattern, time) in times(&sum).into_iter().filter(|(pattern, _)| !pattern.is_empty()) {
            let most: u64 = files.iter().filter_map(|file| times(file).get(&pattern).copied()).sum();
            prop_assert!(time <= most, "{time} of {most}");
        }
        prop_assert_eq!(SideFile::parse(&sum.write()), Ok(sum));
    }
}

/// Fails if a part without content is skipped, or is not written.
#[test]
fn a_part_without_a_selection_says_that_nobody_demanded_calls() {
    let mut side = small();
    assert_eq!((side.selections(), side.counted_time()), (None, None));
    side.set_on_demand();
    assert_eq!((side.selections(), side.counted_time()), (Some(&[][..]), Some(0)));
    assert_eq!(SideFile::parse(&side.write()), Ok(side.clone()));
    assert_eq!(sum([&side]).selections(), Some(&[][..]));
    assert_eq!(sum([&side, &side]).selections(), Some(&[][..]));
}

/// Fails if functions or intervals are not put in order, or if a time is counted twice.
#[test]
fn a_selection_is_in_order() {
    let backwards = core::ops::Range { start: 9, end: 3 };
    let intervals = vec![20..30, 5..9, 7..8, 8..12, 40..40, backwards];
    let selection = Selection::new(b"a*", vec![code(7), code(3), code(7)], intervals);
    assert_eq!(selection.pattern(), b"a*");
    assert_eq!(selection.functions(), [code(3), code(7)]);
    assert_eq!(selection.intervals(), [5..9, 9..12, 20..30, 40..40]);
    assert_eq!(selection.time(), 17);
    assert!(!selection.is_of_whole_runs() && Selection::new(b"", vec![], vec![]).is_of_whole_runs());
    assert!(!Selection::new(b"", vec![code(1)], vec![]).is_of_whole_runs());
    let elsewhere = vec![Place { object: 9, address: 1 }];
    let error = small().add_selection(Selection::new(b"", elsewhere, vec![])).unwrap_err();
    assert_eq!(error, Error::Impossible { part: Part::Object, value: 9 });
}

/// Fails if two selections at the same time count twice.
#[test]
fn the_counted_time_is_the_union_of_all_intervals() {
    let mut side = selecting(b"a*", 1, &[(10, 20), (30, 40)]);
    side.add_selection(selection(b"b*", &[2], &[(15, 32), (50, 51)])).unwrap();
    assert_eq!(side.counted_time(), Some(31));
}

/// Fails if the sum of one file loses its intervals, or if the sum of several keeps those of one.
#[test]
fn one_file_keeps_its_intervals_and_several_have_their_length() {
    let one = selecting(b"a*", 1, &[(10, 20), (30, 40)]);
    assert_eq!(selections(&sum([&one])), [(&b"a*"[..], 20, vec![(10, 20), (30, 40)])]);
    assert_eq!(selections(&sum([&one, &one])), [(&b"a*"[..], 40, vec![(0, 40)])]);
    let other = selecting(b"a*", 2, &[(0, 5)]);
    let both = sum([&other, &one, &other]);
    assert_eq!(selections(&both), [(&b"a*"[..], 20, vec![(0, 20)]), (b"a*", 10, vec![(20, 30)])]);
    assert_eq!(both.selections().unwrap()[1].functions(), [code(2)]);
    // Where two selections are at the same time, the sum has the same time for both.
    let mut together = selecting(b"a*", 1, &[(10, 20)]);
    together.add_selection(selection(b"b*", &[2], &[(16, 22)])).unwrap();
    let twice = sum([&together, &together]);
    assert_eq!(selections(&twice), [(&b"a*"[..], 20, vec![(0, 20)]), (b"b*", 12, vec![(0, 8), (20, 24)])]);
    assert_eq!(twice.counted_time(), Some(24));
}

/// Fails if a function is compared by the number that its object has in one file.
#[test]
fn functions_of_a_selection_are_those_of_the_sum() {
    let file = |first: u32, second: u32| {
        let mut side = small();
        for (number, path) in [(first, b"/lib/a.so"), (second, b"/lib/b.so")] {
            side.add_object(number, Object::new(Kind::Shared, path)).unwrap();
        }
        let functions = [(first, 5), (second, 3)].map(|(object, address)| Place { object, address });
        side.add_selection(Selection::new(b"", functions.to_vec(), iter::once(1..3).collect())).unwrap();
        side
    };
    let expected = [(1, 5), (2, 3)].map(|(object, address)| Place { object, address });
    for files in [vec![file(7, 3)], vec![file(7, 3), file(3, 7)]] {
        let sum = sum(&files);
        assert_eq!(sum.selections().unwrap().len(), 1);
        assert_eq!(sum.selections().unwrap()[0].functions(), expected);
    }
}

/// Fails if a sum hides that some of its runs counted all calls.
#[test]
fn runs_that_counted_all_calls_are_a_selection_of_their_own() {
    let on_demand = with_elapsed(selecting(b"a*", 1, &[(2, 5)]), 10);
    let whole = with_elapsed(small(), 7);
    let both = sum([&on_demand, &whole, &whole]);
    assert_eq!(both.elapsed(), Some(24));
    assert_eq!(both.counted_time(), Some(3 + 14));
    assert_eq!(selections(&both), [(&b""[..], 14, vec![(3, 17)]), (b"a*", 3, vec![(0, 3)])]);
    assert!(both.selections().unwrap()[0].is_of_whole_runs());
    let unknown = sum([&whole, &small(), &on_demand]);
    assert_eq!(unknown.elapsed(), None);
    assert_eq!(selections(&unknown), [(&b""[..], 0, vec![]), (b"a*", 3, vec![(0, 3)])]);
    assert_eq!(sum([&whole, &whole]).selections(), None);
}

/// Fails if the encoder and the library write different bytes.
#[test]
fn the_encoder_writes_what_the_library_writes() {
    let side = selecting(b"a*", 0x1010, &[(5, 9), (9, 12), (20, 30)]);
    let mut buffer = [0; 64];
    let mut out = Piece::new(&mut buffer);
    let mut encoder = SelectionEncoder::begin(&mut out, b"a*", 1);
    encoder.function(&mut out, code(0x1010));
    encoder.begin_intervals(&mut out, 3);
    for (begin, end) in [(5, 9), (9, 12), (20, 30)] {
        encoder.interval(&mut out, begin, end);
    }
    let content = out.content().to_vec();
    assert_eq!(content, [2, b'a', b'*', 1, 0, 0xa0, 0x40, 3, 5, 4, 0, 3, 8, 10]);
    let written = side.write();
    let part = [&SELECTIONS[..], &[0; 4], &(content.len() as u64).to_le_bytes(), &content].concat();
    assert!(written.windows(part.len()).any(|bytes| bytes == part));
}

/// Fails if samples during the intervals stay elsewhere when the samples of the run get a function.
#[test]
fn samples_in_generated_code_are_moved_in_both_lists() {
    let mut side = small();
    side.add_samples(None, ELSEWHERE, 4, 0x400, 7).unwrap();
    side.add_counted_samples(None, ELSEWHERE, 4, 0x400, 3).unwrap();
    side.add_counted_samples(None, ELSEWHERE, 4, 0, 1).unwrap();
    assert!(side.name_generated_code(b"1000 10 fast\n"));
    let bins = |samples: &[gmon::side_file::Samples]| -> Vec<_> {
        let bins = samples.iter().flat_map(|one| one.bins().map(|(bin, ticks)| (one.object(), bin.start, ticks)));
        bins.collect()
    };
    assert_eq!(bins(side.samples()), [(1, 8, 7)]);
    assert_eq!(bins(side.counted_samples()), [(ELSEWHERE, 0, 1), (1, 8, 3)]);
}
