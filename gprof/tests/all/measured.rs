//! Measured inclusive times: random programs run in a simulator that knows which function called which, also after a
//! tail call has removed the caller's frame.

mod reports;
mod simulator;

use std::collections::{BTreeMap, BTreeSet};

use gmon::side_file::CutReason;
use gmon::{Arc, Profile};
use gprof::internals::{
    Arcs, Bounds, CallSites, Code, Flat, Functions, Graph, GraphSelection, Innermost, Machine, Measured, Range,
    Selections, StackSelection, contexts,
};
use gprof::{Frame, FunctionId, Node, Place, StackSums};
use proptest::prelude::*;
use simulator::{LOW, NAMES, Program, Run, SITES, SIZE, Site, Step, functions};

/// Adds up the times of a run, and hands them to `check`.
fn with_measured<T>(program: &Program, run: &Run, check: impl FnOnce(&Functions<'_>, &Measured) -> T) -> T {
    let (functions, bytes) = (functions(), program.code());
    let code = Code { machine: Machine::X86_64, start: LOW, bytes: &bytes };
    let sites = CallSites::in_memory(&run.arcs, &functions, code);
    let contexts = contexts(&run.stacks, &functions, &sites);
    let Selections { flat, time, arcs, .. } = &Selections::program(&functions);
    let sums = StackSums::new(&run.stacks, &contexts);
    let measured = Measured::new(contexts, &functions, StackSelection { flat, time, arcs }, sums);
    check(&functions, &measured)
}

/// The inclusive ticks of functions and arcs.
fn inclusive(functions: &Functions<'_>, measured: &Measured) -> (Vec<u64>, BTreeMap<(usize, usize), u64>) {
    let of = |id: FunctionId| measured.functions[id.index()].counted.own + measured.functions[id.index()].counted.below;
    let pairs = measured.pairs.iter().filter_map(|((caller, called), ticks)| {
        Some(((caller.as_ref()?.index(), called.index()), ticks.own + ticks.below))
    });
    (functions.ids().map(of).collect(), pairs.filter(|(_, ticks)| *ticks > 0).collect())
}

/// The calls of each function by the function that called last.
fn calls(program: &Program, run: &Run) -> BTreeMap<(usize, usize), u64> {
    let (functions, bytes) = (functions(), program.code());
    let code = Code { machine: Machine::X86_64, start: LOW, bytes: &bytes };
    let sites = CallSites::in_memory(&run.arcs, &functions, code);
    let mut calls = BTreeMap::new();
    for arc in run.arcs.iter().map(|arc| sites.with_last_caller(arc)) {
        let [caller, called] = [arc.frompc, arc.selfpc].map(|address| functions.find(address));
        if let (Some(caller), Some(called)) = (caller, called) {
            *calls.entry((caller.index(), called.index())).or_insert(0) += arc.count;
        }
    }
    calls
}

/// The ticks during which each function was on the stack for certain: in a frame that has no doubt.
fn certain(program: &Program, run: &Run) -> Vec<u64> {
    let (functions, bytes) = (functions(), program.code());
    let code = Code { machine: Machine::X86_64, start: LOW, bytes: &bytes };
    let contexts = contexts(&run.stacks, &functions, &CallSites::in_memory(&run.arcs, &functions, code));
    let all = contexts.all();
    let mut ticks = vec![0; NAMES.len()];
    for context in all {
        let callers = std::iter::successors(Some(context), |context| context.parent().map(|parent| &all[parent]));
        let on_stack: BTreeSet<usize> = callers
            .filter(|context| !context.is_doubtful())
            .filter_map(|context| match context.frame {
                Frame::Function(id) => Some(id.index()),
                _ => None,
            })
            .collect();
        on_stack.into_iter().for_each(|function| ticks[function] += context.ticks);
    }
    ticks
}

fn program(tails: usize) -> impl Strategy<Value = Program> {
    let site = prop_oneof![
        3 => (0..NAMES.len()).prop_map(Site::Direct),
        1 => prop::collection::vec(0..NAMES.len(), 1..4).prop_map(Site::Indirect),
    ];
    let sites = prop::collection::vec(prop::collection::vec(site, SITES), NAMES.len());
    let tails = prop::collection::vec(prop::collection::vec(0..NAMES.len(), 0..=tails), NAMES.len());
    (sites, tails).prop_map(|(sites, mut tails)| {
        // Compilers make loops of tail calls of a function by itself.
        tails.iter_mut().enumerate().for_each(|(at, tails)| tails.retain(|tail| *tail != at));
        Program { sites, tails, through_register: BTreeSet::new() }
    })
}

/// Which of the jumps go through a register: about one in four, and often none.
fn jumps() -> impl Strategy<Value = BTreeSet<(usize, usize)>> {
    prop_oneof![Just(BTreeSet::new()), prop::collection::btree_set((0..NAMES.len(), 0..2_usize), 0..8)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..SITES, 0..4_usize).prop_map(|(site, which)| Step::Call(site, which)),
        2 => (0..4_usize).prop_map(Step::Tail),
        2 => Just(Step::Return),
        3 => (0..SIZE).prop_map(Step::Tick),
    ];
    prop::collection::vec(step, 0..150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without tail calls, every instant is measured as it was.
    #[test]
    fn the_stacks_tell_the_truth(program in program(0), steps in steps()) {
        let run = program.run(&steps);
        let (found, sums) = with_measured(&program, &run, |functions, measured| (inclusive(functions, measured), measured.sums));
        prop_assert_eq!(found, (run.inclusive, run.pairs));
        prop_assert_eq!((sums.doubtful, sums.whole), (0, sums.stacks));
    }

    /// With tail calls, some of which go through a register, the times are the truth wherever the report does not say
    /// that it is in doubt.
    #[test]
    fn what_is_certain_is_true(program in program(2), through_register in jumps(), steps in steps()) {
        let program = Program { through_register, ..program };
        let run = program.run(&steps);
        let (found, sums) = with_measured(&program, &run, |functions, measured| (inclusive(functions, measured), measured.sums));
        // Each frame without a mark was there, also below and above frames with a mark.
        for (found, truth) in certain(&program, &run).iter().zip(&run.inclusive) {
            prop_assert!(found <= truth, "{found} {truth}");
        }
        if sums.doubtful == 0 {
            prop_assert_eq!(found, (run.inclusive, run.pairs));
        } else {
            // Each tick with a doubt changes a time by one at most.
            for (found, truth) in found.0.iter().zip(&run.inclusive) {
                prop_assert!(found.abs_diff(*truth) <= sums.doubtful, "{found} {truth} {}", sums.doubtful);
            }
        }
    }

    /// Where tail calls leave a doubt, the truth is between the times that the report shows beside its own.
    #[test]
    fn the_truth_is_in_the_ranges(program in program(2), through_register in jumps(), steps in steps()) {
        let program = Program { through_register, ..program };
        let run = program.run(&steps);
        with_measured(&program, &run, |functions, measured| {
            let (times, pairs) = inclusive(functions, measured);
            let is_in = |time: u64, range: Range, truth: u64| {
                (time.saturating_sub(range.less)..=time + range.more).contains(&truth)
            };
            for (at, id) in functions.ids().enumerate() {
                let range = measured.ranges.functions.get(&id).copied().unwrap_or_default();
                prop_assert!(is_in(times[at], range, run.inclusive[at]), "{at}: {times:?} {range:?} {:?}", run.inclusive);
                prop_assert!(range.less <= measured.sums.doubtful && range.more <= measured.sums.doubtful);
            }
            for ((caller, called), time) in pairs {
                let truth = run.pairs.get(&(caller, called)).copied().unwrap_or(0);
                let ids = (functions.id(caller), functions.id(called).unwrap());
                let range = measured.ranges.pairs.get(&ids).copied().unwrap_or_default();
                prop_assert!(is_in(time, range, truth), "{caller} -> {called}: {time} {range:?} {truth}");
            }
            Ok(())
        })?;
    }

    /// A function that ends in a tail call is on the stack as long as the called function runs.
    #[test]
    fn bounds_hold_for_tail_calls(program in program(2), through_register in jumps(), steps in steps()) {
        let program = Program { through_register, ..program };
        let run = program.run(&steps);
        let (functions, bytes) = (functions(), program.code());
        let code = Code { machine: Machine::X86_64, start: LOW, bytes: &bytes };
        let tail_calls = CallSites::in_memory(&run.arcs, &functions, code).tail_calls();
        prop_assert_eq!(tail_calls.unknown, 0);
        let profile = Profile::of_samples([run.histogram()]).unwrap().with_arcs(run.arcs.clone());
        let selected = Selections::program(&functions).flat;
        let bounds = Bounds::new(&profile, &Innermost::default(), &tail_calls, &functions, &selected);
        for at in 0..NAMES.len() {
            let truth = run.inclusive[at] as f64;
            prop_assert!(bounds.lower[at] <= truth && truth <= bounds.upper[at], "{at}: {:?} {:?}", run.inclusive, bounds);
        }
    }

    /// Functions that jump to one later function, and sites that call one function: the arcs always determine the
    /// truth.
    #[test]
    fn arcs_determine_what_is_gone(program in program(1), steps in steps()) {
        let mut program = program;
        for (at, sites) in program.sites.iter_mut().enumerate() {
            for site in sites {
                if let Site::Indirect(all) = site {
                    *site = Site::Direct(all[0]);
                }
            }
            program.tails[at].retain(|tail| *tail > at);
        }
        let run = program.run(&steps);
        let (found, sums) = with_measured(&program, &run, |functions, measured| (inclusive(functions, measured), measured.sums));
        prop_assert_eq!(sums.doubtful, 0);
        prop_assert_eq!(calls(&program, &run), run.calls);
        prop_assert_eq!(found, (run.inclusive, run.pairs));
    }

    /// The call graph shows these times, and no function more than all time.
    #[test]
    fn the_graph_has_the_measured_times(program in program(1), steps in steps()) {
        let run = program.run(&steps);
        let run = &run;
        with_measured(&program, run, |functions, measured| {
            let selections = Selections::program(functions);
            let flat = Flat::exact(&[run.histogram()], &Innermost::new(Some(&run.stacks)), functions, &selections.flat);
            let arcs = Arcs::selected(&run.arcs, functions, &selections.arcs, &measured.arcs(), true);
            let choices = GraphSelection { entries: &selections.graph, time: &selections.time, excludes_callees: true };
            let graph = Graph::measured(arcs, &flat, functions, choices, measured).ranked(functions);
            let (truth, _) = inclusive(functions, measured);
            for id in functions.ids() {
                let share = graph.share(id);
                prop_assert_eq!(share.own + share.children, truth[id.index()] as f64);
                prop_assert!(graph.percent(Node::Function(id)) <= 100.0);
            }
            for (at, cycle) in graph.cycles().iter().enumerate() {
                let share = graph.cycle_share(at);
                let most = cycle.members.iter().map(|id| truth[id.index()]).max().unwrap();
                prop_assert!(share.own + share.children >= most as f64 && share.own + share.children <= graph.total());
                prop_assert_eq!((share.fraction, share.all_children), (1.0, share.children));
            }
            Ok(())
        })?;
    }

    /// Nothing panics on a tree of noise.
    #[test]
    fn any_tree(program in program(2), nodes in prop::collection::vec((0..40_u32, 0..6_u8, 0..2000_u64, any::<u64>()), 0..200)) {
        let mut run = program.run(&[]);
        for (parent, kind, address, ticks) in nodes {
            let place = match kind {
                0 => Place::Kernel,
                1 => Place::Elsewhere,
                2 => Place::Cut(CutReason::from_code(address as u32)),
                3 => Place::Thread(parent),
                _ => Place::Code(LOW - 100 + address),
            };
            run.arcs.push(Arc::new(LOW + address, LOW + u64::from(parent) * 29, ticks));
            run.stacks.push((kind % 2 == 0).then_some(parent), place, ticks);
        }
        with_measured(&program, &run, inclusive);
    }
}

/// The functions of the hand-made programs.
const MAIN: usize = 0;
const DEAR: usize = 1;
const CHEAP: usize = 2;
const SPIN: usize = 3;

/// A program in which `main` calls `dear` and `cheap` at sites 0 and 1, and one of the two at site 2, through a
/// pointer.
fn by_hand(tails: &[(usize, usize)]) -> Program {
    let mut sites = vec![vec![Site::Direct(SPIN); SITES]; NAMES.len()];
    sites[MAIN] =
        vec![Site::Direct(DEAR), Site::Direct(CHEAP), Site::Indirect(vec![DEAR, CHEAP, SPIN]), Site::Direct(MAIN)];
    let of = |at: usize| tails.iter().filter(|tail| tail.0 == at).map(|tail| tail.1).collect();
    Program { sites, tails: (0..NAMES.len()).map(of).collect(), through_register: BTreeSet::new() }
}

/// Returns the inclusive ticks of the four functions, and the number of stacks with a doubt.
fn times(program: &Program, steps: &[Step]) -> ([u64; 4], u64) {
    let run = program.run(steps);
    with_measured(program, &run, |functions, measured| {
        let (times, _) = inclusive(functions, measured);
        ([MAIN, DEAR, CHEAP, SPIN].map(|at| times[at]), measured.sums.doubtful)
    })
}

#[test]
fn a_function_that_ends_in_a_tail_call_gets_its_time() {
    let program = by_hand(&[(DEAR, SPIN)]);
    let dear = [Step::Call(0, 0), Step::Tick(0), Step::Tail(0), Step::Tick(1), Step::Tick(2), Step::Return];
    let cheap = [Step::Call(1, 0), Step::Call(0, 0), Step::Tick(3), Step::Return, Step::Tick(4), Step::Return];
    assert_eq!(times(&program, &[dear.as_slice(), &cheap].concat()), ([5, 3, 2, 3], 0));
}

#[test]
fn a_call_through_a_pointer_is_in_doubt_only_if_a_jump_leads_there() {
    // The pointer leads to `spin` directly, and to `dear`, which jumps to `spin`.
    let direct = [Step::Call(2, 2), Step::Tick(1), Step::Return];
    let through_dear = [Step::Call(2, 0), Step::Tick(0), Step::Tail(0), Step::Tick(1), Step::Return];
    let both = [direct.as_slice(), &through_dear].concat();
    // `spin` was entered twice, `dear` once: the ticks in `spin` count as direct calls, with the doubt said.
    assert_eq!(times(&by_hand(&[(DEAR, SPIN)]), &both), ([3, 1, 0, 2], 2));
    // `spin` was entered as often as `dear`: the stack shows `dear`.
    assert_eq!(times(&by_hand(&[(DEAR, SPIN)]), &through_dear), ([2, 2, 0, 1], 1));
    // Without a jump from `dear` to `spin`, there is no doubt.
    let called = [Step::Call(2, 0), Step::Tick(0), Step::Return];
    assert_eq!(times(&by_hand(&[]), &[direct.as_slice(), &called].concat()), ([2, 1, 0, 1], 0));
}

/// Checks a program whose `dear` reaches `spin` by its first jump, and by its second jump through `cheap`. A report
/// shows `cheap` in none of the stacks; if `cheap` was called at all, the report says that each stack may have `cheap`.
fn check_two_ways(program: &Program) {
    let short = [Step::Call(0, 0), Step::Tail(0), Step::Tick(0), Step::Return];
    let long = [Step::Call(0, 0), Step::Tail(1), Step::Tail(0), Step::Tick(0), Step::Return];
    assert_eq!(times(program, &short), ([1, 1, 0, 1], 0), "cheap was not called");
    assert_eq!(times(program, &[short.as_slice(), &long].concat()), ([2, 2, 0, 2], 2));
}

#[test]
fn two_ways_are_a_doubt() {
    // `dear` jumps to `spin`, or to `cheap`, which jumps to `spin`.
    let program = by_hand(&[(DEAR, SPIN), (DEAR, CHEAP), (CHEAP, SPIN)]);
    check_two_ways(&program);
}

#[test]
fn a_jump_through_a_register_is_a_doubt() {
    // `dear` jumps to `spin`, or through a register to `cheap`, which jumps to `spin`.
    let direct = by_hand(&[(DEAR, SPIN), (DEAR, CHEAP), (CHEAP, SPIN)]);
    let program = Program { through_register: [(DEAR, 1)].into(), ..direct };
    check_two_ways(&program);
    // `dear` itself is on the stack, and nothing jumps back there.
    let own = [Step::Call(0, 0), Step::Tick(0), Step::Tail(1), Step::Return];
    assert_eq!(times(&program, &own), ([1, 1, 0, 0], 0));
    // Unless `cheap` does.
    let tails = [(DEAR, SPIN), (DEAR, CHEAP), (CHEAP, DEAR)];
    let back = Program { through_register: [(DEAR, 1)].into(), ..by_hand(&tails) };
    assert_eq!(times(&back, &own), ([1, 1, 0, 0], 1));
}

#[test]
fn a_jump_through_a_register_past_a_function_is_a_doubt() {
    // `dear` jumps to `cheap`, which jumps to `spin`, or through a register to `spin`.
    let direct = by_hand(&[(DEAR, CHEAP), (DEAR, SPIN), (CHEAP, SPIN)]);
    let program = Program { through_register: [(DEAR, 1)].into(), ..direct };
    let long = [Step::Call(0, 0), Step::Tail(0), Step::Tail(0), Step::Tick(0), Step::Return];
    let short = [Step::Call(0, 0), Step::Tail(1), Step::Tick(0), Step::Return];
    // The report shows `cheap` in each of the stacks, and says that `cheap` may be in none.
    assert_eq!(times(&program, &[long.as_slice(), &short].concat()), ([2, 2, 2, 2], 2));
    // Without the jump through the register, there is no doubt.
    assert_eq!(times(&by_hand(&[(DEAR, CHEAP), (CHEAP, SPIN)]), &long), ([1, 1, 1, 1], 0));
}

#[test]
fn a_jump_through_a_register_to_a_function_that_direct_jumps_reach_is_a_doubt() {
    // `dear` jumps to `spin` and to `cheap`, and `cheap` jumps through a register to `spin`.
    let direct = by_hand(&[(DEAR, SPIN), (DEAR, CHEAP), (CHEAP, SPIN)]);
    let program = Program { through_register: [(CHEAP, 0)].into(), ..direct };
    check_two_ways(&program);
}

#[test]
fn a_jump_through_a_register_after_a_call_through_a_pointer_is_a_doubt() {
    // The pointer leads to `dear`, which jumps through a register to `spin`.
    let program = Program { through_register: [(DEAR, 0)].into(), ..by_hand(&[(DEAR, SPIN)]) };
    let through_dear = [Step::Call(2, 0), Step::Tick(0), Step::Tail(0), Step::Tick(1), Step::Return];
    // Nothing shows that `dear` called `spin`: the report does not say so, and says that other functions are possible.
    assert_eq!(times(&program, &through_dear), ([2, 1, 0, 1], 1));
    // A pointer that led to `spin` alone leaves no doubt.
    let direct = [Step::Call(2, 2), Step::Tick(1), Step::Return];
    assert_eq!(times(&program, &direct), ([1, 0, 0, 1], 0));
}
