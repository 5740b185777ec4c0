//! Tests of sums of side files.

use std::collections::BTreeMap;

use crate::side::{code, selection, side_file, small};
use gmon::side_file::{
    Accumulator, Call, Calls, CutReason, ELSEWHERE, Identity, KERNEL, Kind, Object, PROGRAM, Place, Samples, SideFile,
    THREAD, Thread, property,
};
use gmon::{Error, Part, Word};
use proptest::prelude::*;

pub(crate) fn sum<'a>(files: impl IntoIterator<Item = &'a SideFile>) -> SideFile {
    let mut sum = Accumulator::new();
    for file in files {
        sum.add(file).unwrap();
    }
    sum.finish()
}

/// The addresses of each function of generated code.
const FUNCTION_SIZE: u64 = 16;

/// What identifies a place in any run.
type Named = (Vec<u8>, Identity, u32, u64);

fn named(side: &SideFile, place: Place) -> Named {
    let Place { object: number, address } = place;
    match (number, side.object(number)) {
        (THREAD, _) => (side.threads()[address as usize].name.clone(), Identity::Unknown, number, 0),
        (KERNEL | ELSEWHERE, _) => (vec![], Identity::Unknown, number, 0),
        // Generated code is the same by the names of its functions.
        (_, Some(object)) if object.kind == Kind::Generated => {
            match side.functions(number).get((address / FUNCTION_SIZE) as usize) {
                Some(name) if matches!(object.identity, Identity::BuildId(_)) => {
                    (name.to_vec(), object.identity.clone(), 0, u64::MAX)
                }
                Some(name) => {
                    ([&object.path[..], b":", name].concat(), object.identity.clone(), object.generation, u64::MAX)
                }
                None => (vec![], Identity::Unknown, ELSEWHERE, 0),
            }
        }
        // A build ID is of one object, wherever it is.
        (_, Some(Object { identity: identity @ Identity::BuildId(_), .. })) => (vec![], identity.clone(), 0, address),
        (_, Some(object)) => (object.path.clone(), object.identity.clone(), object.generation, address),
        (_, None) => (vec![], Identity::Unknown, number, address),
    }
}

/// The ticks of each chain, the samples at each place, and the calls, all by names.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Counts {
    chains: BTreeMap<Vec<Named>, u64>,
    samples: BTreeMap<(Option<Vec<u8>>, Named, u64), u64>,
    counted_samples: BTreeMap<(Option<Vec<u8>>, Named, u64), u64>,
    calls: BTreeMap<(Option<Vec<u8>>, Named, Named), u64>,
    cuts: BTreeMap<CutReason, u64>,
    /// The number of threads, their ticks, and their calls.
    pub(crate) threads: BTreeMap<Vec<u8>, [u64; 3]>,
}

impl Counts {
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = &'a SideFile>) -> Counts {
        let mut counts = Counts::default();
        for file in files {
            counts.add(file);
        }
        counts
    }

    fn add(&mut self, side: &SideFile) {
        let thread = |index: Option<usize>| index.map(|index| side.threads()[index].name.clone());
        let nodes = side.contexts().nodes();
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.ticks() > 0) {
            let chain = side.contexts().callers(index).map(|node| named(side, node.place())).collect();
            *self.chains.entry(chain).or_default() += node.ticks();
        }
        for (sums, all) in [(&mut self.samples, side.samples()), (&mut self.counted_samples, side.counted_samples())] {
            for samples in all {
                for (addresses, ticks) in samples.bins().filter(|(_, ticks)| *ticks > 0) {
                    let object = samples.object();
                    let is_generated = side.object(object).is_some_and(|object| object.kind == Kind::Generated);
                    let address = if is_generated { addresses.end - 1 } else { addresses.start };
                    let place = named(side, Place { object, address });
                    let bin_size = match place.2 {
                        KERNEL | ELSEWHERE => 1,
                        _ if is_generated => 4,
                        _ => samples.bin_size(),
                    };
                    *sums.entry((thread(samples.thread()), place, bin_size)).or_default() += ticks;
                }
            }
        }
        for calls in side.calls() {
            for call in calls.calls().iter().filter(|call| call.count > 0) {
                let of = (thread(calls.thread()), named(side, call.caller), named(side, call.callee));
                *self.calls.entry(of).or_default() += call.count;
            }
        }
        for (reason, ticks) in side.unwalked() {
            *self.cuts.entry(reason).or_default() += ticks;
        }
        for Thread { name, threads, ticks, calls, .. } in side.threads() {
            let sums = self.threads.entry(name.clone()).or_default();
            for (sum, more) in sums.iter_mut().zip([threads, ticks, calls]) {
                *sum += more;
            }
        }
    }
}

fn files() -> impl Strategy<Value = Vec<SideFile>> {
    prop::collection::vec(side_file(), 1..6)
}

/// A file of the program of [`side_file`], with one count of each kind.
fn one_of_each() -> SideFile {
    let mut side = SideFile::new(Word::W64);
    let mut program = Object::new(Kind::Program, b"/bin/program");
    program.identity = Identity::Headers(0x1234_5678_9abc_def0);
    side.add_object(PROGRAM, program).unwrap();
    side.add_property(property::RATE, b"100").unwrap();
    let mut thread = Thread::new(1, b"main");
    (thread.ticks, thread.calls) = (1, 1);
    side.add_thread(thread);
    side.add_samples(None, KERNEL, 1, 0, 1).unwrap();
    side.add_counted_samples(None, KERNEL, 1, 0, 1).unwrap();
    side.add_selection(selection(b"b*", &[2], &[(1, 2)])).unwrap();
    side.add_call(None, Call { caller: code(1), callee: code(2), count: 1 }).unwrap();
    side.add_context(None, code(1), 1).unwrap();
    side.add_cut(CutReason::OFF, 1).unwrap();
    side
}

/// The number of faults that [`with_fault`] knows.
const FAULTS: usize = 11;

/// Adds something to a file so that the file cannot be added to [`one_of_each`].
fn with_fault(mut side: SideFile, fault: usize) -> SideFile {
    let calls: u64 = side.calls().iter().flat_map(Calls::calls).map(|call| call.count).sum();
    let samples: u64 = side.samples().iter().map(Samples::total).sum();
    let cuts: u64 = side.unwalked().map(|(_, ticks)| ticks).sum();
    let mut thread = Thread::new(9, b"another name");
    match fault {
        0 => side.add_samples(None, KERNEL, 1, 0, u64::MAX - samples).unwrap(),
        1 => {
            let [caller, callee] = [3, 4].map(code);
            side.add_call(None, Call { caller, callee, count: u64::MAX - calls }).unwrap();
        }
        2 => _ = side.add_context(None, code(5), u64::MAX - side.contexts().total()).unwrap(),
        3 => side.add_cut(CutReason::NO_MEMORY, u64::MAX - cuts).unwrap(),
        4 => thread.threads = u64::MAX,
        5 => thread.ticks = u64::MAX,
        6 => thread.calls = u64::MAX,
        7 => {
            let counted: u64 = side.counted_samples().iter().map(Samples::total).sum();
            side.add_counted_samples(None, KERNEL, 1, 0, u64::MAX - counted).unwrap();
        }
        8 => side.add_selection(selection(b"b*", &[2], &[(0, u64::MAX)])).unwrap(),
        9 => {
            side = SideFile::new(Word::W64);
            side.add_property(property::RATE, b"1000").unwrap();
            side.add_object(1, Object::new(Kind::Shared, b"/lib/of another rate")).unwrap();
        }
        _ => {
            side = small();
            side.add_object(1, Object::new(Kind::Shared, b"/lib/of another program")).unwrap();
        }
    }
    side.add_thread(thread);
    side
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_is_in_another_place(files in files()) {
        let sum = sum(&files);
        prop_assert_eq!(Counts::of([&sum]), Counts::of(&files));
        let total = |file: &SideFile| file.contexts().total();
        prop_assert_eq!(total(&sum), files.iter().map(total).sum::<u64>());
        prop_assert_eq!(sum.runs(), files.len() as u64);
        prop_assert_eq!(SideFile::parse(&sum.write()), Ok(sum));
    }

    #[test]
    fn sums_are_commutative((files, shuffled) in files().prop_flat_map(|files| (Just(files.clone()), Just(files).prop_shuffle()))) {
        prop_assert_eq!(sum(&files), sum(&shuffled));
    }

    #[test]
    fn sums_are_associative(files in files(), at in any::<prop::sample::Index>()) {
        let (first, second) = files.split_at(at.index(files.len()));
        let halves: Vec<_> = [first, second].into_iter().filter(|half| !half.is_empty()).map(sum).collect();
        prop_assert_eq!(sum(&halves), sum(&files));
    }

    #[test]
    fn a_file_that_cannot_be_added_leaves_nothing((before, after) in (files(), files()), bad in side_file(), fault in 0..FAULTS) {
        let mut accumulator = Accumulator::new();
        accumulator.add(&one_of_each()).unwrap();
        before.iter().for_each(|file| accumulator.add(file).unwrap());
        prop_assert!(accumulator.add(&with_fault(bad, fault)).is_err());
        after.iter().for_each(|file| accumulator.add(file).unwrap());
        prop_assert_eq!(accumulator.finish(), sum([&one_of_each()].into_iter().chain(&before).chain(&after)));
    }

    #[test]
    fn no_two_nodes_of_a_sum_are_the_same(files in files()) {
        let sum = sum(&files);
        let mut keys: Vec<_> = sum.contexts().nodes().iter().map(|node| (node.parent(), node.place())).collect();
        keys.sort();
        keys.dedup();
        prop_assert_eq!(keys.len(), sum.contexts().nodes().len());
    }
}

/// A run in which an object with this build ID and path has this number.
fn run(number: u32, build_id: u8, path: &[u8]) -> SideFile {
    let mut side = small();
    let mut object = Object::new(Kind::Shared, path);
    object.identity = if build_id > 0 { Identity::BuildId(vec![build_id]) } else { Identity::Unknown };
    object.code = u64::from(number)..0x1000;
    side.add_object(number, object).unwrap();
    let main = side.add_context(None, code(0x1010), 0).unwrap();
    side.add_context(Some(main), Place { object: number, address: 0x20 }, 1).unwrap();
    side
}

#[test]
fn an_object_is_the_same_by_build_id_or_else_by_path() {
    let objects = |files: [SideFile; 2]| {
        let sum = sum(&files);
        (sum.objects().skip(1).map(|(_, object)| object.path.clone()).collect::<Vec<_>>(), sum.contexts().inclusive())
    };
    let moved = objects([run(3, 1, b"/z/a.so"), run(7, 1, b"/a.so")]);
    assert_eq!(moved, (vec![b"/a.so".to_vec()], vec![2, 2]));
    let rebuilt = objects([run(3, 2, b"/a.so"), run(3, 1, b"/a.so")]);
    assert_eq!(rebuilt, (vec![b"/a.so".to_vec(); 2], vec![2, 1, 1]));
    let unknown = objects([run(3, 0, b"/a.so"), run(9, 0, b"/a.so")]);
    assert_eq!(unknown, (vec![b"/a.so".to_vec()], vec![2, 2]));
    let other = objects([run(3, 0, b"/b.so"), run(3, 0, b"/a.so")]);
    assert_eq!(other, (vec![b"/a.so".to_vec(), b"/b.so".to_vec()], vec![2, 1, 1]));
    let replaced = run(3, 0, b"/a.so");
    let mut second = Object::new(Kind::Shared, b"/a.so");
    second.generation = 1;
    let mut both = replaced.clone();
    both.add_object(4, second).unwrap();
    assert_eq!(sum([&replaced, &both]).objects().count(), 3, "a path that another file got while the program ran");
}

#[test]
fn a_chain_may_have_any_length() {
    const DEPTH: u64 = 300_000;
    let mut side = small();
    for level in 0..DEPTH {
        side.add_context(level.checked_sub(1).map(|parent| parent as usize), code(0x1000 + level % 3), 1).unwrap();
    }
    let sum = sum([&SideFile::parse(&side.write()).unwrap(), &side]);
    assert_eq!((sum.contexts().nodes().len() as u64, sum.contexts().inclusive()[0]), (DEPTH, 2 * DEPTH));
    assert_eq!(sum.contexts().callers(DEPTH as usize - 1).count() as u64, DEPTH);
    assert_eq!(side.cut_ticks().next(), None);
}

#[test]
fn other_programs_and_rates_are_errors() {
    let mut accumulator = Accumulator::new();
    accumulator.add(&small()).unwrap();
    let mut other = SideFile::new(Word::W64);
    let mut program = Object::new(Kind::Program, b"/bin/program");
    program.identity = Identity::BuildId(vec![0xbe, 0xef, 0, 1]);
    other.add_object(PROGRAM, program).unwrap();
    assert_eq!(accumulator.add(&other), Err(Error::ProgramsDiffer));
    let mut faster = small();
    faster.add_property(property::RATE, b"1000").unwrap();
    assert_eq!(accumulator.add(&faster), Err(Error::RatesDiffer { first: 0, second: 1000 }));
}

#[test]
fn sums_that_do_not_fit_are_errors() {
    let overflow = |field: fn(&mut SideFile, u64)| {
        let (mut most, mut one) = (small(), small());
        field(&mut most, u64::MAX);
        field(&mut one, 1);
        let mut accumulator = Accumulator::new();
        accumulator.add(&most).unwrap();
        let expected = Error::Impossible { part: Part::Count, value: 1 };
        assert_eq!(accumulator.add(&one), Err(expected));
    };
    overflow(|side, ticks| _ = side.add_context(None, code(1), ticks).unwrap());
    overflow(|side, ticks| side.add_samples(None, KERNEL, 1, 0, ticks).unwrap());
    overflow(|side, ticks| side.add_counted_samples(None, KERNEL, 1, 0, ticks).unwrap());
    overflow(|side, time| side.add_selection(selection(b"", &[1], &[(0, time)])).unwrap());
    overflow(|side, ticks| side.add_cut(CutReason::OFF, ticks).unwrap());
    overflow(|side, count| side.add_call(None, Call { caller: code(1), callee: code(2), count }).unwrap());
    overflow(|side, ticks| {
        let mut thread = Thread::new(1, b"main");
        thread.ticks = ticks;
        side.add_thread(thread);
    });
}

#[test]
fn objects_without_a_number_leave_nothing() {
    let mut many = small();
    for number in 1..0x7fee_u32 {
        many.add_object(number, Object::new(Kind::Shared, format!("/lib/{number}").as_bytes())).unwrap();
    }
    let (mut known, mut last) = (small(), small());
    known.add_object(7, Object::new(Kind::Shared, b"/lib/8")).unwrap();
    last.add_object(1, Object::new(Kind::Shared, b"/lib/last")).unwrap();
    let mut one_more = last.clone();
    one_more.add_object(2, Object::new(Kind::Shared, b"/lib/one more")).unwrap();
    let mut accumulator = Accumulator::new();
    accumulator.add(&many).unwrap();
    accumulator.add(&known).unwrap();
    let expected = Error::Impossible { part: Part::Items, value: 0x7ff0 };
    assert_eq!(accumulator.add(&one_more), Err(expected));
    accumulator.add(&last).unwrap();
    assert_eq!(accumulator.finish(), sum([&many, &known, &last]));
}

#[test]
fn properties_that_differ_are_not_the_sum_s() {
    let of = |pid: &[u8]| {
        let mut side = small();
        side.add_property(property::HOST, b"node 1").unwrap();
        side.add_property(property::RATE, b"100").unwrap();
        side.add_property(property::PID, pid).unwrap();
        side
    };
    let sum = sum(&[of(b"1"), of(b"2"), of(b"1")]);
    let properties: Vec<_> = sum.properties().collect();
    assert_eq!(properties, [(&b"rate"[..], &b"100"[..]), (b"runs", b"3"), (b"host", b"node 1")]);
    assert_eq!((sum.rate(), sum.runs()), (Some(100), 3));
}

#[test]
fn the_cpu_time_is_added_up_if_all_files_have_it() {
    let of = |time: Option<u64>| {
        let mut side = small();
        if let Some(time) = time {
            side.add_property(property::CPU, time.to_string().as_bytes()).unwrap();
        }
        side
    };
    let times = |times: &[Option<u64>]| sum(&times.iter().map(|time| of(*time)).collect::<Vec<_>>()).cpu_time();
    assert_eq!(times(&[Some(7), Some(7), Some(1)]), Some(15));
    assert_eq!(times(&[Some(7), None, Some(1)]), None);
    assert_eq!(times(&[None, Some(1)]), None);
    assert_eq!(times(&[Some(u64::MAX), Some(0)]), Some(u64::MAX));
    assert_eq!(times(&[Some(u64::MAX), Some(1), Some(0)]), None, "does not fit");
    // A sum is a summand, and has the property once.
    let whole = sum(&[sum(&[of(Some(1)), of(Some(2))]), of(Some(3))]);
    assert_eq!((whole.cpu_time(), whole.properties().filter(|(key, _)| *key == property::CPU).count()), (Some(6), 1));
    let mut other = small();
    other.add_property(property::CPU, b"soon").unwrap();
    assert_eq!(other.cpu_time(), None, "not a number");
}

#[test]
fn the_sums_outside_of_objects() {
    let mut side = small();
    side.add_object(5, Object::new(Kind::Vdso, b"[vdso]")).unwrap();
    let thread = side.add_thread(Thread::new(7, b"main"));
    for (object, ticks) in [(KERNEL, 1), (ELSEWHERE, 2), (5, 4), (PROGRAM, 8)] {
        side.add_samples(None, object, 1, 0, ticks).unwrap();
        side.add_samples(Some(thread), object, 1, 0, ticks).unwrap();
    }
    let elsewhere = Place { object: ELSEWHERE, address: 0 };
    side.add_call(None, Call { caller: code(1), callee: elsewhere, count: 16 }).unwrap();
    side.add_call(None, Call { caller: elsewhere, callee: code(1), count: 32 }).unwrap();
    let outside = side.outside();
    assert_eq!((outside.kernel, outside.elsewhere, outside.vdso, outside.calls), (1, 2, 4, 16));
    assert_eq!(sum([&side, &side]).outside().calls, 32);
}
