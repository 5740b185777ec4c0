//! Bounds of inclusive times: random programs run in a simulator that knows their stacks, and cases in which both
//! bounds are the truth.

use gmon::{Arc, Histogram, Profile, Unit};
use gprof::BoundsDoubt;
use gprof::internals::{
    ArcSelection, Arcs, Bounds, Flat, Functions, Graph, GraphSelection, Innermost, Selection, Selections, Symbol,
    TailCalls,
};
use proptest::prelude::*;

/// The first address, and the number of bytes of each function.
const LOW: u64 = 0x1000;
const SIZE: u64 = 16;
const NAMES: [&str; 10] = ["main", "a", "b", "c", "d", "e", "f", "g", "h", "_start"];

/// A step of a simulated thread.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Calls one of the functions that the running function can call, or code outside of the program.
    Call(usize),
    /// Returns to the caller.
    Return,
    /// A tick at this byte of the running function.
    Tick(u64),
}

/// A program: which functions have counters, and which functions each function calls. `None` is code outside.
#[derive(Clone, Debug)]
struct Program {
    is_counted: Vec<bool>,
    calls: Vec<Vec<Option<usize>>>,
    calls_outside: Vec<Option<usize>>,
    /// How far behind its beginning a function calls. The largest distance leads to the beginning of the next function,
    /// as if the call did not return.
    offset: u64,
    /// The size of a bin, and the distance of the first bin from the first function.
    bin: u64,
    bin_start: u64,
}

/// What a simulation counted, and what it knows.
struct Run {
    profile: Profile,
    /// The ticks during which each function was on the stack.
    truth: Vec<f64>,
}

fn symbol(at: usize) -> Symbol<'static> {
    Symbol { address: address(at), name: NAMES[at].as_bytes(), is_static: false, is_func: true }
}

fn address(function: usize) -> u64 {
    LOW + function as u64 * SIZE
}

impl Program {
    /// Runs a thread for each list of steps. The first frame of each thread is outside.
    fn run(&self, threads: &[Vec<Step>]) -> Run {
        let end = address(NAMES.len());
        let (mut arcs, mut truth) = (Vec::new(), vec![0.0; NAMES.len()]);
        let bins = (end - LOW + self.bin_start).div_ceil(self.bin) as usize;
        let mut bins = vec![0_u64; bins];
        for steps in threads {
            let mut stack: Vec<Option<usize>> = vec![None];
            for step in steps {
                let running = *stack.last().unwrap();
                match step {
                    Step::Call(which) => self.call(*which, &mut stack, &mut arcs),
                    Step::Return if stack.len() > 1 => _ = stack.pop(),
                    Step::Return => {}
                    Step::Tick(byte) => {
                        let Some(running) = running else { continue };
                        let place = address(running) + byte % SIZE - LOW + self.bin_start;
                        bins[(place / self.bin) as usize] += 1;
                        let is_on_stack = |function| stack.contains(&Some(function));
                        (0..NAMES.len()).filter(|at| is_on_stack(*at)).for_each(|at| truth[at] += 1.0);
                    }
                }
            }
        }
        let lowpc = LOW - self.bin_start;
        let highpc = lowpc + bins.len() as u64 * self.bin;
        let histogram = Histogram::new(lowpc..highpc, Unit::seconds(100), bins).unwrap();
        Run { profile: Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs), truth }
    }

    fn call(&self, which: usize, stack: &mut Vec<Option<usize>>, arcs: &mut Vec<Arc>) {
        let caller = *stack.last().unwrap();
        let choices = caller.map_or(&self.calls_outside, |caller| &self.calls[caller]);
        if choices.is_empty() {
            return;
        }
        let called = choices[which % choices.len()];
        // Start-up code calls `main`, below which nothing has counters. Other calls of `main` are counted.
        let is_start = !self.is_counted[0] || caller.is_none_or(|caller| !self.is_counted[caller]);
        let has_counters = |frame: &Option<usize>| frame.is_some_and(|at| self.is_counted[at] || at == 0);
        if called == Some(0) && is_start && stack.iter().any(has_counters) {
            return;
        }
        if let Some(called) = called.filter(|called| self.is_counted[*called]) {
            // A place after the call: in the caller, or at the beginning of the next function.
            let frompc = caller.map_or(8, |caller| address(caller) + 1 + self.offset % SIZE);
            arcs.push(Arc::new(frompc, address(called) + 4, 1));
        }
        stack.push(called);
    }
}

fn program() -> impl Strategy<Value = Program> {
    let count = NAMES.len();
    let called = || prop_oneof![8 => (0..count).prop_map(Some), 1 => Just(None)];
    let calls = prop::collection::vec(prop::collection::vec(called(), 0..4), count);
    let is_counted = prop::collection::vec(prop::bool::weighted(0.8), count);
    let calls_outside = prop::collection::vec(prop_oneof![2 => Just(Some(0)), 1 => (0..count).prop_map(Some)], 1..4);
    let bin = prop_oneof![3 => Just(4_u64), 1 => 1..24_u64];
    (is_counted, calls, calls_outside, 0..SIZE, bin, 0..4_u64).prop_map(
        |(is_counted, calls, calls_outside, offset, bin, bin_start)| Program {
            is_counted,
            calls,
            calls_outside,
            offset,
            bin,
            bin_start,
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..120_usize).prop_map(Step::Call),
        2 => Just(Step::Return),
        3 => (0..SIZE).prop_map(Step::Tick),
    ];
    prop::collection::vec(step, 0..120)
}

/// Runs a program that a text describes. A letter is a call, what follows in parentheses happens during the call, and a
/// dot is a tick. `m` is `main`, `o` is code outside, and `s` is `_start`. The functions `h` and `_start` have no
/// counters.
fn script(text: &str) -> Run {
    let letters = "mabcdefghs";
    let is_counted = letters.chars().map(|letter| !"hs".contains(letter)).collect();
    let all: Vec<Option<usize>> = (0..NAMES.len()).map(Some).chain([None]).collect();
    let calls = vec![all.clone(); NAMES.len()];
    let program = Program { is_counted, calls, calls_outside: all.clone(), offset: 6, bin: 4, bin_start: 0 };
    let steps = text.chars().filter_map(|letter| match letter {
        '.' => Some(Step::Tick(0)),
        ')' => Some(Step::Return),
        '(' => None,
        _ => Some(Step::Call(letters.find(letter).unwrap_or(NAMES.len()))),
    });
    program.run(&[steps.collect()])
}

/// Checks that runs with the same profile reach the bounds of all functions that they call: no other profile-based
/// bounds could be closer.
fn assert_tight(texts: &[&str]) {
    let runs: Vec<Run> = texts.iter().map(|text| script(text)).collect();
    let sorted = |run: &Run| {
        let mut arcs: Vec<(u64, u64)> = run.profile.arcs().iter().map(|arc| (arc.frompc, arc.selfpc)).collect();
        arcs.sort_unstable();
        (arcs, run.profile.histograms()[0].bins().clone())
    };
    assert!(runs.iter().all(|run| sorted(run) == sorted(&runs[0])), "{texts:?}");
    let functions = Functions::new((0..NAMES.len()).map(symbol).collect(), address(NAMES.len()));
    let bounds = bounds(&runs[0].profile, &functions);
    for (at, letter) in "mabcdefghs".chars().enumerate().filter(|(_, letter)| texts[0].contains(*letter)) {
        let truths = || runs.iter().map(|run| run.truth[at]);
        let (least, most) = (truths().fold(f64::MAX, f64::min), truths().fold(0.0, f64::max));
        assert_eq!((bounds.lower[at], bounds.upper[at]), (least, most), "{letter} in {texts:?}");
    }
    assert!(bounds.doubts.is_empty(), "{:?}", bounds.doubts);
}

#[test]
fn bounds_are_tight() {
    // All paths are known.
    assert_tight(&["o(m(.a(b(.)c(.))))"]);
    // Two callers share a function.
    assert_tight(&["o(m(a(c(.))b(c())))", "o(m(a(c())b(c(.))))"]);
    // A function compiled without -pg, at any place, also before `main`.
    assert_tight(&["o(m(.a())h(.))", "o(m(.a(h(.))))", "h(.o(m(.a())))"]);
    // A callback runs below any function, but `main` runs below none.
    assert_tight(&["o(m(.a())b(.)b())", "o(m(.a(o(b(.)b()))))"]);
    // A function that is called once stands below what only it calls, and not above.
    assert_tight(&["o(m(.)b(.c(.)c()))", "o(m(.o(b(.c(.)c()))))"]);
    // Start-up code without counters.
    assert_tight(&["s(m(.a(.)))"]);
    // A cycle.
    assert_tight(&["o(m(a(b(a(.)))))", "o(m(a(.b(a()))))"]);
}

#[test]
fn a_bin_of_two_functions_counts_for_what_is_below_both() {
    let functions = Functions::new((0..3).map(symbol).collect(), address(3));
    let arc = |from: usize, to: usize| Arc::new(address(from) + 6, address(to) + 4, 2);
    let arcs = vec![Arc::new(8, LOW + 4, 1), arc(0, 1), arc(0, 2)];
    // One bin has the end of `a` and the beginning of `b`.
    let (lowpc, highpc) = (address(2) - 4, address(2) + 4);
    let histogram = Histogram::new(lowpc..highpc, Unit::seconds(100), vec![7_u16]).unwrap();
    let found = bounds(&Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs), &functions);
    assert_eq!((found.lower, found.upper), (vec![7.0, 0.0, 0.0], vec![7.0, 7.0, 7.0]));
}

#[test]
fn a_call_from_one_group_into_another_adds_no_time() {
    let functions = Functions::new((0..5).map(symbol).collect(), address(5));
    let arc = |from: u64, to: usize| Arc::new(from, address(to) + 4, 1);
    // Code outside calls `main`, `a`, and `c`. `a` calls `b`. The return address of the call of `d` is the beginning of
    // `c`, so `b` or `c` has made the call.
    let arcs = vec![arc(8, 0), arc(8, 1), arc(8, 3), arc(address(1) + 6, 2), arc(address(3), 4)];
    let histogram = Histogram::new(LOW..address(5), Unit::seconds(100), vec![0_u16, 1, 2, 8, 4]).unwrap();
    let found = bounds(&Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs), &functions);
    assert_eq!(found.lower, [0.0, 3.0, 2.0, 8.0, 4.0]);
    // `c` and `d` may have run below any function, but `a` did not run below `b`.
    assert_eq!(found.upper[1..3], [15.0, 14.0]);
}

#[test]
fn doubts_are_told() {
    let functions = Functions::new((0..4).map(symbol).collect(), address(4));
    let arc = |from: u64, to: usize| Arc::new(from, address(to) + 4, 2);
    let of = |arcs: &[Arc]| {
        let profile = Profile::new().with_arcs(arcs.to_vec());
        bounds(&profile, &functions).doubts
    };
    let (outside, main) = (8, LOW + 6);
    assert_eq!(of(&[arc(outside, 0), arc(main, 1)]), []);
    assert_eq!(of(&[]), []);
    assert_eq!(of(&[arc(main, 1)]), [BoundsDoubt::StartIsNotCounted]);
    // Two functions call each other, and nobody calls them.
    let example = functions.id(2).unwrap();
    let circle = [arc(address(2) + 6, 3), arc(address(3) + 6, 2)];
    let missing = BoundsDoubt::CallsAreMissing { example, count: 2 };
    assert_eq!(of(&[&[arc(outside, 0)][..], &circle].concat()), [missing]);
    let profile = Profile::new().with_arcs(vec![arc(outside, 0)]);
    let tail_calls = TailCalls { unknown: 3, ..TailCalls::default() };
    let selected = Selections::program(&functions).flat;
    let found = Bounds::new(&profile, &Innermost::default(), &tail_calls, &functions, &selected).doubts;
    assert_eq!(found, [BoundsDoubt::JumpsAreUnknown { count: 3 }]);
}

/// Returns gprof's estimate for each function, without members of cycles.
fn estimates(profile: &Profile, functions: &Functions<'_>, program: &Selection) -> Vec<Option<f64>> {
    let flat = Flat::exact(profile.histograms(), &Innermost::default(), functions, program);
    let arcs = Arcs::selected(profile.arcs(), functions, &ArcSelection::default(), &[], true);
    let choices = GraphSelection { entries: program, time: program, excludes_callees: true };
    let graph = Graph::unranked(arcs, &flat, functions, choices);
    let estimate = |id| graph.cycle_of(id).is_none().then(|| graph.share(id).own + graph.share(id).children);
    functions.ids().map(estimate).collect()
}

fn bounds(profile: &Profile, functions: &Functions<'_>) -> Bounds {
    Bounds::new(profile, &Innermost::default(), &TailCalls::default(), functions, &Selections::program(functions).flat)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_truth_lies_between_the_bounds(
        program in program(),
        threads in prop::collection::vec(steps(), 1..4),
    ) {
        let functions = Functions::new((0..NAMES.len()).map(symbol).collect(), address(NAMES.len()));
        let Run { profile, truth } = program.run(&threads);
        let bounds = bounds(&profile, &functions);
        let estimates = estimates(&profile, &functions, &Selections::program(&functions).flat);
        prop_assert!(bounds.is_upper_exact);
        for (at, truth) in truth.iter().enumerate() {
            let (lower, upper) = (bounds.lower[at], bounds.upper[at]);
            prop_assert!(lower <= *truth && *truth <= upper, "{}: {lower} <= {truth} <= {upper}", NAMES[at]);
            // gprof takes a call that does not return for a call by the next function.
            let does_return = program.offset != SIZE - 1;
            if let Some(estimate) = estimates[at].filter(|_| does_return) {
                let rounding = 1e-9;
                prop_assert!(
                    lower <= estimate + rounding && estimate <= upper + rounding,
                    "{}: {lower} <= {estimate} <= {upper}", NAMES[at]
                );
            }
        }
    }
}
