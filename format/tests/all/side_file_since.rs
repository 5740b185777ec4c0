//! Tests of differences between two snapshots of one side file.

use crate::side::{code, selection, side_file, small};
use crate::side_file_sums::{Counts, sum};
use gmon::side_file::{
    Call, Checksum, CutReason, ELSEWHERE, KERNEL, Kind, Mapping, Object, PROGRAM, Place, Selection, SideFile, THREAD,
    Thread, property,
};
use gmon::{Error, Order, Part, Word};
use proptest::prelude::*;

fn lower(part: Part, address: u64, earlier: i128, later: i128) -> Error {
    Error::Lower { part, address, earlier, later }
}

fn with(mut side: SideFile, properties: &[(&[u8], &str)]) -> SideFile {
    properties.iter().for_each(|(key, value)| side.add_property(key, value.as_bytes()).unwrap());
    side
}

fn thread(number: u64, name: &[u8], ticks: u64, calls: u64) -> Thread {
    let mut thread = Thread::new(number, name);
    (thread.ticks, thread.calls) = (ticks, calls);
    thread
}

/// The number, the name, the number of threads, the ticks, and the calls of each thread.
fn threads(side: &SideFile) -> Vec<(u64, &str, u64, u64, u64)> {
    let names = side.threads().iter().map(|thread| std::str::from_utf8(&thread.name).unwrap());
    let fields = side.threads().iter().zip(names);
    fields.map(|(thread, name)| (thread.number, name, thread.threads, thread.ticks, thread.calls)).collect()
}

/// The thread, the object, the start of a bin, and the ticks.
fn samples(samples: &[gmon::side_file::Samples]) -> Vec<(Option<usize>, u32, u64, u64)> {
    let bins = samples.iter().flat_map(|of| of.bins().map(move |bin| (of.thread(), of.object(), bin)));
    bins.map(|(thread, object, (bin, ticks))| (thread, object, bin.start, ticks)).collect()
}

fn calls(side: &SideFile) -> Vec<(Option<usize>, Call)> {
    side.calls().iter().flat_map(|calls| calls.calls().iter().map(|call| (calls.thread(), *call))).collect()
}

/// The parent, the place, and the ticks of each node.
fn nodes(side: &SideFile) -> Vec<(Option<usize>, Place, u64)> {
    side.contexts().nodes().iter().map(|node| (node.parent(), node.place(), node.ticks())).collect()
}

fn cuts(side: &SideFile) -> Vec<(u32, u64)> {
    side.unwalked().map(|(reason, ticks)| (reason.code(), ticks)).collect()
}

/// The counts of a snapshot: how many times each was counted.
struct Snapshot {
    /// The number of the shared object in the file.
    object: u32,
    /// The threads in the order of the file, those of [`snapshot`].
    threads: [usize; 2],
    main: u64,
    worker: u64,
}

/// The snapshot of a program with two threads, in which `main` calls a function of a shared object.
fn snapshot(of: &Snapshot) -> SideFile {
    let mut side = with(small(), &[(property::RATE, "100"), (property::PID, "77")]);
    side.add_object(of.object, Object::new(Kind::Shared, b"/lib/libm.so.6")).unwrap();
    let (main, worker) = (thread(10, b"main", of.main, 2 * of.main), thread(11, b"worker", of.worker, 0));
    let all = [main, worker];
    let mut index = [0; 2];
    for which in of.threads {
        index[which] = side.add_thread(all[which].clone());
    }
    let sin = |address| Place { object: of.object, address };
    for (which, count) in [(0, of.main), (1, of.worker)] {
        side.add_samples(None, of.object, 4, 8 + which as u64, count).unwrap();
        side.add_samples(Some(index[which]), of.object, 4, 8 + which as u64, count).unwrap();
        side.add_counted_samples(None, of.object, 4, 8 + which as u64, count / 2).unwrap();
        side.add_counted_samples(Some(index[which]), PROGRAM, 4, 16, count / 2).unwrap();
        let top = Place { object: THREAD, address: index[which] as u64 };
        let top = side.add_context(None, top, 0).unwrap();
        let caller = side.add_context(Some(top), code(0x1010), 0).unwrap();
        side.add_context(Some(caller), sin(0x20 + which as u64), count).unwrap();
    }
    side.add_call(None, Call { caller: code(0x1010), callee: sin(0x20), count: 2 * of.main }).unwrap();
    side.add_call(Some(index[0]), Call { caller: code(0x1010), callee: sin(0x20), count: 2 * of.main }).unwrap();
    side.add_samples(None, KERNEL, 1, 0, of.main).unwrap();
    side.add_samples(None, ELSEWHERE, 4, 0x100 + of.main, of.worker).unwrap();
    side.add_cut(CutReason::NO_TABLE, of.main + of.worker).unwrap();
    side
}

const LATER: Snapshot = Snapshot { object: 5, threads: [0, 1], main: 10, worker: 4 };
/// Objects and threads have other numbers than later.
const EARLIER: Snapshot = Snapshot { object: 9, threads: [1, 0], main: 3, worker: 4 };

/// Fails if a part is not subtracted, if numbers of objects or threads of one file are used in the other file, or if
/// what has no counts stays.
#[test]
fn each_part_is_subtracted() {
    let difference = snapshot(&LATER).since(&snapshot(&EARLIER)).unwrap();
    let object = difference.objects().find(|(_, object)| object.kind == Kind::Shared).unwrap().0;
    let sin = Place { object, address: 0x20 };
    // The worker has done nothing.
    assert_eq!(threads(&difference), [(10, "main", 1, 7, 14)]);
    let expected = [(None, object, 32, 7), (None, KERNEL, 0, 7), (Some(0), object, 32, 7)];
    assert_eq!(samples(difference.samples()), expected);
    let expected = [(None, object, 32, 4), (Some(0), PROGRAM, 64, 4)];
    assert_eq!(samples(difference.counted_samples()), expected);
    let call = Call { caller: code(0x1010), callee: sin, count: 14 };
    assert_eq!(calls(&difference), [(None, call), (Some(0), call)]);
    let main = Place { object: THREAD, address: 0 };
    assert_eq!(nodes(&difference), [(None, main, 0), (Some(0), code(0x1010), 0), (Some(1), sin, 7)]);
    assert_eq!(difference.contexts().total(), 7);
    assert_eq!(cuts(&difference), [(5, 7)]);
    assert_eq!(SideFile::parse(&difference.write()), Ok(difference));
}

/// Fails if a count of one kind may be lower than before, or if the error says something else.
#[test]
fn a_lower_count_of_each_kind_is_an_error() {
    let swapped = snapshot(&EARLIER).since(&snapshot(&LATER)).unwrap_err();
    assert_eq!(swapped, lower(Part::Samples, 32, 10, 3));
    let check = |change: fn(&mut SideFile, u64), expected: Error| {
        let (mut earlier, mut later) = (small(), small());
        change(&mut earlier, 5);
        change(&mut later, 3);
        assert_eq!(later.since(&earlier), Err(expected.clone()));
        let Error::Lower { part, address, earlier: before, .. } = expected else { panic!("{expected}") };
        assert_eq!(small().since(&earlier), Err(lower(part, address, before, 0)), "nothing in the later file");
        assert!(earlier.since(&later).is_ok());
    };
    check(|side, ticks| side.add_samples(None, PROGRAM, 4, 8, ticks).unwrap(), lower(Part::Samples, 32, 5, 3));
    let counted = |side: &mut SideFile, ticks| side.add_counted_samples(None, PROGRAM, 4, 8, ticks).unwrap();
    check(counted, lower(Part::Samples, 32, 5, 3));
    let calls = |side: &mut SideFile, count| {
        side.add_call(None, Call { caller: code(1), callee: code(2), count }).unwrap();
    };
    check(calls, lower(Part::Calls, 2, 5, 3));
    let contexts = |side: &mut SideFile, ticks| {
        let top = side.add_context(None, code(1), 0).unwrap();
        side.add_context(Some(top), code(7), ticks).unwrap();
    };
    check(contexts, lower(Part::Contexts, 7, 5, 3));
    check(|side, ticks| side.add_cut(CutReason::OFF, ticks).unwrap(), lower(Part::Cuts, 2, 5, 3));
    check(|side, ticks| _ = side.add_thread(thread(40, b"t", ticks, 0)), lower(Part::Samples, 40, 5, 3));
    check(|side, calls| _ = side.add_thread(thread(40, b"t", 0, calls)), lower(Part::Calls, 40, 5, 3));
}

/// Fails if counts in an object, a function, or a thread that the later file does not have are lost, or are taken away
/// from others.
#[test]
fn counts_at_unknown_places_are_errors() {
    let in_object = |path: &[u8], ticks| {
        let mut side = small();
        side.add_object(1, Object::new(Kind::Shared, path)).unwrap();
        side.add_samples(None, 1, 4, 8, ticks).unwrap();
        side
    };
    let difference = in_object(b"/a", 5).since(&in_object(b"/b", 0)).unwrap();
    assert_eq!((samples(difference.samples()), difference.objects().count()), (vec![(None, 1, 32, 5)], 2));
    assert_eq!(in_object(b"/a", 5).since(&in_object(b"/b", 2)), Err(lower(Part::Samples, 32, 2, 0)));
    let in_function = |names: &[&str], ticks: &[u64]| {
        let mut side = small();
        side.add_object(1, Object::new(Kind::Generated, b"[jit]")).unwrap();
        for (name, ticks) in names.iter().zip(ticks) {
            let address = side.add_function(1, name.as_bytes()).unwrap().start + 8;
            side.add_samples(None, 1, 4, address / 4, *ticks).unwrap();
            side.add_context(None, Place { object: 1, address }, *ticks).unwrap();
        }
        side
    };
    let difference = in_function(&["b", "a", "c"], &[9, 8, 7]).since(&in_function(&["c", "b"], &[3, 2])).unwrap();
    // The functions are sorted by name: `a`, `b`, `c`.
    assert_eq!(samples(difference.samples()), [(None, 1, 8, 8), (None, 1, 24, 7), (None, 1, 40, 4)]);
    assert_eq!(nodes(&difference).iter().map(|(.., ticks)| *ticks).collect::<Vec<_>>(), [8, 7, 4]);
    assert!(matches!(
        in_function(&["a"], &[9]).since(&in_function(&["b"], &[1])),
        Err(Error::Lower { part: Part::Samples, earlier: 1, later: 0, .. })
    ));
}

/// Fails if `cpu` or `elapsed` is the later one, or is there though it is not known; if `start` is not moved, or
/// another property is changed.
#[test]
fn times_are_differences_and_the_start_is_moved() {
    let of = |properties: &[(&[u8], &str)]| with(small(), properties);
    let later = of(&[
        (property::RATE, "100"),
        (property::CPU, "700"),
        (property::ELAPSED, "1000"),
        (property::HOST, "node 1"),
        (property::START, "50000"),
        (b"new key", "7"),
    ]);
    let earlier = of(&[
        (property::RATE, "100"),
        (property::CPU, "200"),
        (property::ELAPSED, "400"),
        (property::START, "50000"),
        (b"new key", "6"),
    ]);
    let difference = later.since(&earlier).unwrap();
    let properties: Vec<_> = difference.properties().collect();
    let expected = ["rate=100", "cpu=500", "elapsed=600", "host=node 1", "new key=7", "start=50400"];
    let expected: Vec<_> = expected.iter().map(|property| property.split_once('=').unwrap()).collect();
    let expected: Vec<_> = expected.iter().map(|(key, value)| (key.as_bytes(), value.as_bytes())).collect();
    assert_eq!(properties, expected);
    // Without the times of the earlier file, nothing is known of the interval.
    let unknown = later.since(&of(&[(property::RATE, "100")])).unwrap();
    assert_eq!((unknown.cpu_time(), unknown.elapsed()), (None, None));
    assert_eq!(unknown.property(property::START), Some(&b"50000"[..]));
    let unknown = of(&[(property::START, "50000")]).since(&of(&[(property::CPU, "1"), (property::ELAPSED, "5")]));
    let unknown = unknown.unwrap();
    assert_eq!((unknown.cpu_time(), unknown.elapsed()), (None, None));
    assert_eq!(unknown.property(property::START), Some(&b"50005"[..]));
    let most = u64::MAX.to_string();
    let last = of(&[(property::START, &most)]).since(&of(&[(property::ELAPSED, "1")])).unwrap();
    assert_eq!(last.property(property::START), Some(most.as_bytes()), "the new start does not fit");
}

/// Fails if the file of another run, of a later time, of another program, or of another rate is taken for an earlier
/// one.
#[test]
fn files_of_other_runs_are_errors() {
    for (key, earlier, later) in [
        (property::HOST, "one", "two"),
        (property::PID, "7", "8"),
        (property::START, "100", "101"),
        (property::ELAPSED, "6", "5"),
        (property::CPU, "18446744073709551615", "1"),
    ] {
        let error = with(small(), &[(key, later)]).since(&with(small(), &[(key, earlier)])).unwrap_err();
        assert_eq!(error, Error::NotEarlier { key, earlier: earlier.into(), later: later.into() });
        assert!(with(small(), &[(key, later)]).since(&small()).is_ok());
        assert!(small().since(&with(small(), &[(key, earlier)])).is_ok());
    }
    let mut other = SideFile::new(Word::W64);
    other.add_object(PROGRAM, Object::new(Kind::Program, b"/bin/other")).unwrap();
    assert_eq!(small().since(&with(other, &[(property::PID, "9")])), Err(Error::ProgramsDiffer));
    let rates = Error::RatesDiffer { first: 0, second: 100 };
    assert_eq!(small().since(&with(small(), &[(property::RATE, "100")])), Err(rates));
}

/// Fails if the result says that it is live, belongs to the profile of a snapshot, or has mappings or runs of its own;
/// or if it is of another byte order or word size.
#[test]
fn what_describes_the_file_is_that_of_one_run() {
    let mut later = with(SideFile::new(Word::W32), &[(property::RUNS, "3")]);
    later.set_order(Order::Big);
    later.set_live(true);
    later.set_profile(Some(Checksum { length: 5, sum: 6 }));
    later.add_object(PROGRAM, Object::new(Kind::Program, b"/bin/program")).unwrap();
    later.add_mapping(Mapping::new(0..0x1000, 0, PROGRAM)).unwrap();
    let difference = later.since(&with(SideFile::new(Word::W64), &[(property::RUNS, "2")])).unwrap();
    assert_eq!((difference.order(), difference.word(), difference.runs()), (Order::Big, Word::W32, 1));
    assert_eq!((difference.is_live(), difference.profile(), difference.mappings()), (false, None, &[][..]));
    assert_eq!(difference.property(property::RUNS), None);
}

/// A pattern and its intervals.
type PatternIntervals<'a> = (&'a [u8], Vec<(u64, u64)>);

/// The pattern and the intervals of each selection.
fn selections(side: &SideFile) -> Option<Vec<PatternIntervals<'_>>> {
    let intervals = |of: &Selection| of.intervals().iter().map(|interval| (interval.start, interval.end)).collect();
    side.selections().map(|all| all.iter().map(|of| (of.pattern(), intervals(of))).collect())
}

/// Fails if an interval is not cut, is not moved, or stays though it is over; if a selection without intervals stays;
/// or if the file no longer says that calls are counted on demand.
#[test]
fn intervals_count_from_the_new_start() {
    let mut later = with(small(), &[(property::ELAPSED, "100")]);
    later.add_selection(selection(b"a*", &[1], &[(10, 20), (30, 60), (70, 80)])).unwrap();
    later.add_selection(selection(b"over", &[2], &[(5, 40)])).unwrap();
    later.add_selection(selection(b"to the end", &[3], &[(40, 100)])).unwrap();
    let difference = later.since(&with(small(), &[(property::ELAPSED, "40")])).unwrap();
    let expected: Vec<(&[u8], _)> = vec![(b"a*", vec![(0, 20), (30, 40)]), (b"to the end", vec![(0, 60)])];
    assert_eq!(selections(&difference), Some(expected));
    assert_eq!((difference.elapsed(), difference.counted_time()), (Some(60), Some(60)));
    assert_eq!(difference.selections().unwrap()[1].functions(), [code(3)]);
    // Nothing was counted after this time.
    let over = later.since(&with(small(), &[(property::ELAPSED, "100")])).unwrap();
    assert_eq!((selections(&over), over.counted_time()), (Some(vec![]), Some(0)));
    // Without the time of the earlier file, the intervals count from the start of the profile.
    let unknown = later.since(&small()).unwrap();
    assert_eq!(selections(&unknown), selections(&later));
    assert_eq!(small().since(&small()).unwrap().selections(), None);
}

/// Fails if threads of one name are compared one by one, if a thread loses its counts with its name, or if a thread
/// stays that has no counts and no name in another part.
#[test]
fn threads_are_found_by_name_or_by_number() {
    let of = |all: &[(u64, &[u8], u64)]| {
        let mut side = small();
        for (number, name, ticks) in all {
            let index = side.add_thread(thread(*number, name, *ticks, 0));
            side.add_context(None, Place { object: THREAD, address: index as u64 }, *ticks).unwrap();
        }
        side
    };
    let check =
        |later: &[(u64, &[u8], u64)], earlier: &[(u64, &[u8], u64)], expected: &[(u64, &str, u64, u64, u64)]| {
            let difference = of(later).since(&of(earlier)).unwrap();
            assert_eq!(threads(&difference), expected);
            let ticks: Vec<u64> = expected.iter().map(|(_, _, _, ticks, _)| *ticks).collect();
            assert_eq!(nodes(&difference).iter().map(|(.., ticks)| *ticks).collect::<Vec<_>>(), ticks);
        };
    // The counts of a thread that has ended are in the entry of its name.
    check(&[(0, b"w", 9), (8, b"w", 2)], &[(7, b"w", 5), (8, b"w", 1)], &[(0, "w", 2, 5, 0)]);
    check(
        &[(7, b"a", 3), (8, b"b", 9), (9, b"c", 1)],
        &[(7, b"a", 3), (8, b"b", 1)],
        &[(8, "b", 1, 8, 0), (9, "c", 1, 1, 0)],
    );
    // Two threads have got new names, one of them the name of the other.
    check(&[(7, b"b", 9), (8, b"c", 9)], &[(7, b"a", 1), (8, b"b", 5)], &[(7, "b", 1, 8, 0), (8, "c", 1, 4, 0)]);
    // The system has used a number twice.
    check(&[(7, b"x", 9), (7, b"z", 6)], &[(7, b"x", 1), (7, b"y", 5)], &[(7, "x", 1, 8, 0), (7, "z", 1, 1, 0)]);
    // Names that have no entry any more are in the entry of all others.
    let others = "(all other threads)";
    check(
        &[(0, others.as_bytes(), 20)],
        &[(7, b"a", 1), (0, b"b", 5), (0, others.as_bytes(), 4)],
        &[(0, others, 1, 10, 0)],
    );
    assert_eq!(of(&[(8, b"b", 9)]).since(&of(&[(0, b"", 1)])), Err(lower(Part::Contexts, 0, 1, 0)));
    // Samples and calls refer to threads without counts of their own.
    let mut idle = of(&[(1, b"a", 1), (2, b"b", 0), (3, b"c", 0), (4, b"d", 0)]);
    idle.add_samples(Some(1), PROGRAM, 4, 8, 1).unwrap();
    idle.add_call(Some(3), Call { caller: code(1), callee: code(2), count: 1 }).unwrap();
    let difference = idle.since(&of(&[(1, b"a", 1)])).unwrap();
    assert_eq!(threads(&difference), [(2, "b", 1, 0, 0), (4, "d", 1, 0, 0)]);
    assert_eq!((difference.samples()[0].thread(), difference.calls()[0].thread()), (Some(0), Some(1)));
}

/// Fails if a sample whose walk ends between the snapshots is an error, or if other cuts may become fewer.
#[test]
fn walks_that_end_between_the_snapshots_are_no_error() {
    let of = |walking: u64, unfinished: u64, done: u64| {
        let mut side = small();
        side.add_cut(CutReason::STILL_WALKING, walking).unwrap();
        let cut = side.add_context(None, CutReason::UNFINISHED.place(), 0).unwrap();
        side.add_context(Some(cut), code(0x1010), unfinished).unwrap();
        side.add_context(None, code(0x1020), done).unwrap();
        side
    };
    let difference = of(1, 2, 20).since(&of(3, 5, 10)).unwrap();
    assert_eq!((cuts(&difference), nodes(&difference)), (vec![], vec![(None, code(0x1020), 10)]));
    let difference = of(3, 5, 20).since(&of(1, 2, 20)).unwrap();
    assert_eq!(cuts(&difference), [(13, 2)]);
    assert_eq!(nodes(&difference).last(), Some(&(Some(0), code(0x1010), 3)));
    // Other ticks of the same files may not become fewer.
    assert_eq!(small().since(&of(1, 2, 3)), Err(lower(Part::Contexts, 0x1020, 3, 0)));
}

/// Fails if repeated nodes are compared one by one, or if a node without ticks stays with none below or goes with some.
#[test]
fn nodes_are_found_by_their_chains() {
    let of = |ticks: [u64; 5]| {
        let mut side = small();
        let main = side.add_context(None, code(1), ticks[0]).unwrap();
        let first = side.add_context(Some(main), code(2), ticks[1]).unwrap();
        let second = side.add_context(Some(main), code(2), ticks[2]).unwrap();
        side.add_context(Some(first), code(3), ticks[3]).unwrap();
        side.add_context(Some(second), code(4), ticks[4]).unwrap();
        side
    };
    let difference = of([0, 2, 3, 4, 7]).since(&of([0, 5, 0, 4, 1])).unwrap();
    assert_eq!(nodes(&difference), [(None, code(1), 0), (Some(0), code(2), 0), (Some(1), code(4), 6)]);
    assert_eq!(difference.contexts().total(), 6);
    let none = of([1, 2, 3, 4, 5]).since(&of([1, 3, 2, 4, 5])).unwrap();
    assert!(none.contexts().nodes().is_empty());
}

/// The counts without the numbers of threads, and without threads that have none.
fn content<'a>(files: impl IntoIterator<Item = &'a SideFile>) -> Counts {
    let mut counts = Counts::of(files);
    counts.threads.values_mut().for_each(|counts| counts[0] = 0);
    counts.threads.retain(|_, counts| *counts != [0; 3]);
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Fails if any count of the sum is lost or kept too much.
    #[test]
    fn a_sum_less_one_summand_is_the_other(one in side_file(), other in side_file()) {
        let both = sum([&one, &other]);
        let difference = both.since(&one).unwrap();
        prop_assert_eq!(content([&difference]), content([&other]));
        prop_assert_eq!(difference.contexts().total(), other.contexts().total());
        let leaves = difference.contexts().inclusive();
        prop_assert!(leaves.iter().all(|ticks| *ticks > 0));
        prop_assert_eq!(SideFile::parse(&difference.write()), Ok(difference));
        // The two in the other order.
        prop_assert!(other.since(&both).is_err() || content([&one]) == content([]));
    }

    /// Fails if a count of an equal file remains, or what has a count of 0.
    #[test]
    fn nothing_is_between_equal_snapshots(side in side_file()) {
        let difference = side.since(&side).unwrap();
        prop_assert_eq!(Counts::of([&difference]), Counts::default());
        prop_assert!(difference.samples().is_empty() && difference.counted_samples().is_empty());
        prop_assert!(difference.calls().is_empty() && difference.threads().is_empty());
        prop_assert!(difference.contexts().nodes().is_empty() && difference.unwalked().next().is_none());
        prop_assert_eq!(difference.selections().is_some(), side.selections().is_some());
    }

    /// Fails if any two files lead to a panic, or to a file that cannot be read.
    #[test]
    fn any_two_files_have_a_difference_or_an_error(later in side_file(), earlier in side_file()) {
        if let Ok(difference) = later.since(&earlier) {
            prop_assert_eq!(SideFile::parse(&difference.write()), Ok(difference));
        }
    }
}
