//! Side files for the tests.
#![allow(dead_code)] // No test uses everything.

use std::collections::BTreeMap;

use gmon::side_file::{
    CUT, Call, Checksum, CutReason, ELSEWHERE, EstimatedCalls, Identity, KERNEL, Kind, Mapping, Object, PROGRAM, Place,
    Selection, SideFile, THREAD, Thread, Windows, property,
};
use gmon::{Order, Word};
use proptest::prelude::*;

/// Names of which each occurs often.
const NAMES: [&[u8]; 4] = [b"main", b"worker", b"worker 2", b""];
const PATHS: [&[u8]; 4] = [b"/lib/libc.so.6", b"/lib/a b.so", b"/x\n=y.so", b""];

/// What the properties of a run, its objects and its threads are made of.
#[derive(Clone, Debug)]
struct Names {
    word: Word,
    order: Order,
    is_live: bool,
    profile: Option<(u64, u64)>,
    properties: Vec<(usize, u8)>,
    objects: Vec<(u32, usize, u8, bool, u64)>,
    threads: Vec<(usize, u64)>,
}

fn names() -> impl Strategy<Value = Names> {
    let word = prop_oneof![Just(Word::W32), Just(Word::W64)];
    let order = prop_oneof![Just(Order::Little), Just(Order::Big)];
    let profile = prop::option::of((1..1_000_000_u64, any::<u64>()));
    let properties = prop::collection::vec((0..4_usize, any::<u8>()), 0..4);
    let objects = prop::collection::vec((1..0x7ff0_u32, 0..PATHS.len(), 0..4_u8, any::<bool>(), 0..1u64 << 31), 0..4);
    let threads = prop::collection::vec((0..NAMES.len(), 0..1000_u64), 0..3);
    let parts = (word, order, any::<bool>(), profile, properties, objects, threads);
    parts.prop_map(|(word, order, is_live, profile, properties, objects, threads)| Names {
        word,
        order,
        is_live,
        profile,
        properties,
        objects,
        threads,
    })
}

impl Names {
    fn file(&self) -> SideFile {
        let mut side = SideFile::new(self.word);
        side.set_order(self.order);
        side.set_live(self.is_live);
        side.set_profile(self.profile.map(|(length, sum)| Checksum { length, sum }));
        for (key, value) in &self.properties {
            let keys = [property::HOST, property::PID, property::COMMAND, b"unknown key"];
            side.add_property(keys[*key], &[b'=', *value / 128, b'\n']).unwrap();
        }
        side.add_property(property::RATE, b"100").unwrap();
        let mut program = Object::new(Kind::Program, b"/bin/program");
        program.identity = Identity::Headers(0x1234_5678_9abc_def0);
        side.add_object(PROGRAM, program).unwrap();
        for (number, path, identity, is_closed, lowpc) in &self.objects {
            let kind = match *number % 7 {
                3 => Kind::Vdso,
                5 => Kind::Generated,
                _ => Kind::Shared,
            };
            let mut object = Object::new(kind, PATHS[*path]);
            object.identity = match identity {
                0 => Identity::Unknown,
                1 => Identity::Headers(7),
                build => Identity::BuildId(vec![*build; 20]),
            };
            object.is_closed = *is_closed;
            object.generation = u32::from(*is_closed);
            object.code = *lowpc..*lowpc + 0x1000;
            // The number may be taken.
            if side.add_object(*number, object).is_ok() && kind == Kind::Generated {
                for name in NAMES.iter().skip(*path).filter(|name| !name.is_empty()) {
                    side.add_function(*number, name).unwrap();
                }
            }
        }
        for (name, number) in &self.threads {
            let mut thread = Thread::new(*number, NAMES[*name]);
            (thread.ticks, thread.calls) = (number * 3, number * 5);
            side.add_thread(thread);
        }
        let objects: Vec<u32> = side.objects().map(|(number, _)| number).collect();
        for number in objects.into_iter().step_by(2) {
            let start = u64::from(number) << 8;
            side.add_mapping(Mapping::new(start..start + 0x80, 0_u64.wrapping_sub(start), number)).unwrap();
        }
        side
    }
}

/// Picks one of the places that a file can have.
fn place(side: &SideFile, which: usize, address: u64) -> Place {
    let mut places: Vec<u32> = side.objects().map(|(number, _)| number).collect();
    places.extend([KERNEL, ELSEWHERE]);
    let address = if side.word() == Word::W32 { address >> 32 } else { address };
    Place { object: places[which % places.len()], address }
}

/// A pattern, functions, and intervals: the begin and the length of each.
type AnySelection = (usize, Vec<usize>, Vec<(u64, u64)>);

/// What a file says about calls on demand.
#[derive(Clone, Debug)]
struct OnDemand {
    elapsed: Option<u64>,
    /// `None` if all calls were counted.
    selections: Option<Vec<AnySelection>>,
    samples: Vec<(usize, usize, u64, u64)>,
    /// The windows, and rows for the strategy's functions: a called function, callers, windows, and calls.
    estimates: Option<(u64, u64, Vec<AnyEstimate>)>,
}

type AnyEstimate = (usize, Vec<(usize, u64)>, u64, u64, u64);

fn on_demand() -> impl Strategy<Value = OnDemand> {
    let functions = prop::collection::vec(0..24_usize, 0..4);
    let intervals = prop::collection::vec((0..50_u64, 0..20_u64), 0..4);
    let selections = prop::collection::vec((0..3_usize, functions, intervals), 0..4);
    let samples = prop::collection::vec((0..8_usize, 0..8_usize, 0..64_u64, 0..300_u64), 0..10);
    let callers = prop::collection::vec((0..8_usize, any::<u64>()), 0..4);
    let calls = prop_oneof![3 => 0..1000_u64, 1 => 0..1_u64 << 50];
    let rows = prop::collection::vec((0..24_usize, callers, 1..300_u64, calls, any::<u64>()), 0..5);
    let estimates = prop::option::weighted(0.6, (1..3_u64, 1..200_u64, rows));
    let parts = (prop::option::weighted(0.8, 0..1000_u64), prop::option::weighted(0.7, selections), samples, estimates);
    parts.prop_map(|(elapsed, selections, samples, estimates)| OnDemand { elapsed, selections, samples, estimates })
}

impl OnDemand {
    fn add_to(&self, side: &mut SideFile) {
        if let Some(elapsed) = self.elapsed {
            side.add_property(property::ELAPSED, elapsed.to_string().as_bytes()).unwrap();
        }
        if self.selections.is_some() {
            side.set_on_demand();
        }
        for (pattern, functions, intervals) in self.selections.iter().flatten() {
            let pattern = [&b""[..], b"parse*", b"a b"][*pattern];
            let functions = functions.iter().map(|which| place(side, *which, (*which as u64 % 3) << 36)).collect();
            let intervals = intervals.iter().map(|(begin, length)| *begin..*begin + *length).collect();
            side.add_selection(Selection::new(pattern, functions, intervals)).unwrap();
        }
        let threads = side.threads().len();
        for (which, how, index, ticks) in &self.samples {
            let thread = (which % 3 == 2 && threads > 0).then(|| which % threads);
            let object = place(side, *how, 0).object;
            side.add_counted_samples(thread, object, 1 + (how % 2) as u64 * 3, *index, *ticks).unwrap();
        }
        if let Some((share, windows, estimates)) = &self.estimates {
            add_estimates(side, *share, *windows, estimates);
        }
    }
}

/// Adds windows and rows in order.
fn add_estimates(side: &mut SideFile, share: u64, number: u64, estimates: &[AnyEstimate]) {
    side.set_windows(Windows { share, number, covered: number << 20, time: number << 27 }).unwrap();
    let mut rows: BTreeMap<(Place, Option<Place>), EstimatedCalls> = BTreeMap::new();
    for (which, callers, seen, calls, variance) in estimates {
        let callee = place(side, *which, (*which as u64 % 3) << 36);
        let callers = callers.iter().map(|(which, address)| Some(place(side, *which, *address)));
        for caller in [None].into_iter().chain(callers) {
            let variance = u128::from(*variance) << (which % 3 * 8);
            let row = EstimatedCalls { callee, caller, seen: (*seen).min(number), calls: *calls, variance };
            rows.entry((callee, caller)).or_insert(row);
        }
    }
    rows.into_values().for_each(|row| side.add_estimate(row).unwrap());
}

/// A file with any counts.
pub(crate) fn side_file() -> impl Strategy<Value = SideFile> {
    let address = prop_oneof![3 => (0..64_u64).prop_map(|n| n << 32), 1 => any::<u64>()];
    let count = prop_oneof![5 => 0..300_u64, 1 => 0..1u64 << 50];
    let counts = prop::collection::vec((0..8_usize, 0..8_usize, address, count), 0..40);
    let parts = (names(), counts.clone(), counts.clone(), counts, on_demand());
    parts.prop_map(|(names, samples, calls, nodes, on_demand)| {
        let mut side = names.file();
        on_demand.add_to(&mut side);
        let threads = side.threads().len();
        let thread = |which: usize| (which % 3 == 2 && threads > 0).then(|| which % threads);
        for (which, how, index, ticks) in samples {
            let object = place(&side, how, 0).object;
            side.add_samples(thread(which), object, 1 + (how % 2) as u64 * 3, index >> 34, ticks).unwrap();
        }
        for (which, how, address, count) in calls {
            let (caller, callee) = (place(&side, how, address), place(&side, which, address.rotate_left(3)));
            side.add_call(thread(which), Call { caller, callee, count }).unwrap();
        }
        for (index, (which, how, address, ticks)) in nodes.into_iter().enumerate() {
            let parent = index.checked_sub(1 + how);
            let place = match which {
                0 if threads > 0 => Place { object: THREAD, address: (how % threads) as u64 },
                1 => Place { object: CUT, address: how as u64 },
                _ => place(&side, which, address),
            };
            side.add_context(parent, place, ticks).unwrap();
        }
        for (code, ticks) in [(1, 5), (3, 1 << 40), (77, 2)] {
            if names.properties.len() > 1 {
                side.add_cut(CutReason::from_code(code), ticks).unwrap();
            }
        }
        side
    })
}

/// A file with one program.
pub(crate) fn small() -> SideFile {
    let mut side = SideFile::new(Word::W64);
    let mut program = Object::new(Kind::Program, b"/bin/program");
    program.identity = Identity::BuildId(vec![0xbe, 0xef, 0, 0]);
    program.code = 0x1000..0x2000;
    side.add_object(PROGRAM, program).unwrap();
    side
}

/// A selection of functions of the program. Each interval has a begin and an end.
pub(crate) fn selection(pattern: &[u8], addresses: &[u64], intervals: &[(u64, u64)]) -> Selection {
    let functions = addresses.iter().map(|address| code(*address)).collect();
    Selection::new(pattern, functions, intervals.iter().map(|(begin, end)| *begin..*end).collect())
}

/// A place in the program.
pub(crate) fn code(address: u64) -> Place {
    Place { object: PROGRAM, address }
}
