//! Measured inclusive times: random programs run in a simulator that knows which function called which, also after a tail
//! call has removed the caller's frame.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::collections::{BTreeMap, BTreeSet};

use gmon::side_file::CutReason;
use gmon::{Arc, Dimension, Histogram};
use gprof::internals::{
    Arcs, CallSites, Code, Flat, Functions, Graph, GraphSelection, Machine, Measured, Selections, StackSelection,
    Symbol, contexts,
};
use gprof::{FunctionId, Node, Place, StackSums, Stacks};
use proptest::prelude::*;

const NAMES: [&str; 8] = ["main", "a", "b", "c", "d", "e", "f", "g"];

/// The first address, and the number of bytes of each function.
const LOW: u64 = 0x1000;
const SIZE: u64 = 128;

/// The number of call sites of a function, each of which has this many bytes. The first bytes of a function are no site.
const SITES: usize = 4;
const SITE: u64 = 16;

/// A call site.
#[derive(Clone, Debug)]
enum Site {
    /// `call function`
    Direct(usize),
    /// `call *register`, which calls one of these functions.
    Indirect(Vec<usize>),
}

/// A program: the call sites of each function, and the functions that it may jump to at its end.
#[derive(Clone, Debug)]
struct Program {
    sites: Vec<Vec<Site>>,
    tails: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Calls at a site; of several functions that the site calls, this one.
    Call(usize, usize),
    /// Ends with a tail call of one of the functions.
    Tail(usize),
    Return,
    /// A tick at this byte.
    Tick(u64),
}

/// A frame: where it returns to, and the functions that had it one after the other.
#[derive(Clone, Debug)]
struct Activation {
    return_address: u64,
    functions: Vec<usize>,
}

/// What a run counted, and what it knows.
struct Run {
    stacks: Stacks,
    arcs: Vec<Arc>,
    bins: Vec<u64>,
    /// For each function, the ticks during which it ran or waited for a function that it had called.
    inclusive: Vec<u64>,
    /// For each caller and called function, the ticks during which the call lasted.
    pairs: BTreeMap<(usize, usize), u64>,
}

fn start(function: usize) -> u64 {
    LOW + function as u64 * SIZE
}

/// The return address of a call site.
fn after(function: usize, site: usize) -> u64 {
    start(function) + (site as u64 + 1) * SITE + 5
}

impl Program {
    /// The machine code: calls and jumps between instructions that do nothing.
    fn code(&self) -> Vec<u8> {
        let mut code = vec![0x90; NAMES.len() * SIZE as usize];
        let mut put = |at: u64, bytes: &[u8]| {
            let at = (at - LOW) as usize;
            code[at..at + bytes.len()].copy_from_slice(bytes);
        };
        let relative = |opcode: u8, next: u64, to: usize| {
            [[opcode].as_slice(), &(start(to).wrapping_sub(next) as i32).to_le_bytes()].concat()
        };
        for (function, sites) in self.sites.iter().enumerate() {
            for (at, site) in sites.iter().enumerate() {
                let next = after(function, at);
                match site {
                    Site::Direct(to) => put(next - 5, &relative(0xe8, next, *to)),
                    Site::Indirect(_) => put(next - 2, &[0xff, 0xd0]),
                }
            }
            for (at, to) in self.tails[function].iter().enumerate() {
                let next = start(function + 1) - 1 - at as u64 * 8;
                put(next - 5, &relative(0xe9, next, *to));
            }
        }
        code
    }

    fn run(&self, steps: &[Step]) -> Run {
        let mut run = Run {
            stacks: Stacks::new(),
            arcs: vec![Arc { frompc: 8, selfpc: LOW + 4, count: 1 }],
            bins: vec![0; NAMES.len() * SIZE as usize],
            inclusive: vec![0; NAMES.len()],
            pairs: BTreeMap::new(),
        };
        let mut stack = vec![Activation { return_address: 8, functions: vec![0] }];
        for step in steps {
            let top = stack.last().unwrap();
            let running = *top.functions.last().unwrap();
            match *step {
                Step::Call(site, which) if stack.len() < 60 => {
                    let site = site % SITES;
                    let called = match &self.sites[running][site] {
                        Site::Direct(called) => *called,
                        Site::Indirect(all) => all[which % all.len()],
                    };
                    let return_address = after(running, site);
                    run.arcs.push(Arc { frompc: return_address, selfpc: start(called) + 4, count: 1 });
                    stack.push(Activation { return_address, functions: vec![called] });
                }
                Step::Tail(which) if !self.tails[running].is_empty() && stack.len() > 1 => {
                    let called = self.tails[running][which % self.tails[running].len()];
                    let frompc = top.return_address;
                    run.arcs.push(Arc { frompc, selfpc: start(called) + 4, count: 1 });
                    stack.last_mut().unwrap().functions.push(called);
                }
                Step::Return if stack.len() > 1 => _ = stack.pop(),
                Step::Tick(byte) => run.tick(&stack, start(running) + byte % SIZE),
                _ => {}
            }
        }
        run
    }
}

impl Run {
    fn tick(&mut self, stack: &[Activation], pc: u64) {
        self.bins[(pc - LOW) as usize] += 1;
        let mut parent = self.stacks.push(None, Place::Elsewhere, 0);
        for frame in &stack[1..] {
            parent = self.stacks.push(parent, Place::Code(frame.return_address), 0);
        }
        self.stacks.push(parent, Place::Code(pc), 1).unwrap();
        let all: Vec<usize> = stack.iter().flat_map(|frame| frame.functions.iter().copied()).collect();
        for function in all.iter().copied().collect::<BTreeSet<_>>() {
            self.inclusive[function] += 1;
        }
        for pair in all.windows(2).map(|pair| (pair[0], pair[1])).collect::<BTreeSet<_>>() {
            *self.pairs.entry(pair).or_insert(0) += 1;
        }
    }

    fn histogram(&self) -> Histogram {
        let (highpc, dimension) = (LOW + self.bins.len() as u64, Dimension::SECONDS);
        Histogram { lowpc: LOW, highpc, profrate: 100, dimension, abbrev: b's', signed: false, bins: self.bins.clone() }
    }
}

fn functions() -> Functions<'static> {
    let symbol = |at: usize| Symbol { address: start(at), name: NAMES[at].as_bytes(), is_static: false, is_func: true };
    Functions::new((0..NAMES.len()).map(symbol).collect(), start(NAMES.len()))
}

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
        Program { sites, tails }
    })
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
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without tail calls, every instant is measured as it was.
    #[test]
    fn the_stacks_tell_the_truth(program in program(0), steps in steps()) {
        let run = program.run(&steps);
        let (found, sums) = with_measured(&program, &run, |functions, measured| (inclusive(functions, measured), measured.sums));
        prop_assert_eq!(found, (run.inclusive, run.pairs));
        prop_assert_eq!((sums.doubtful, sums.whole), (0, sums.stacks));
    }

    /// With tail calls, the times are the truth wherever the report does not say that it is in doubt.
    #[test]
    fn what_is_certain_is_true(program in program(2), steps in steps()) {
        let run = program.run(&steps);
        let (found, sums) = with_measured(&program, &run, |functions, measured| (inclusive(functions, measured), measured.sums));
        if sums.doubtful == 0 {
            prop_assert_eq!(found, (run.inclusive, run.pairs));
        } else {
            // Each tick with a doubt changes a time by one at most.
            for (found, truth) in found.0.iter().zip(&run.inclusive) {
                prop_assert!(found.abs_diff(*truth) <= sums.doubtful, "{found} {truth} {}", sums.doubtful);
            }
        }
    }

    /// Functions that jump to one later function, and sites that call one function: the arcs always determine the truth.
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
        prop_assert_eq!(found, (run.inclusive, run.pairs));
    }

    /// The call graph shows these times, and no function more than all time.
    #[test]
    fn the_graph_has_the_measured_times(program in program(1), steps in steps()) {
        let run = program.run(&steps);
        let run = &run;
        with_measured(&program, run, |functions, measured| {
            let selections = Selections::program(functions);
            let flat = Flat::exact(&[run.histogram()], functions, &selections.flat);
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
            run.arcs.push(Arc { frompc: LOW + address, selfpc: LOW + u64::from(parent) * 29, count: ticks });
            run.stacks.push((kind % 2 == 0).then_some(parent), place, ticks);
        }
        with_measured(&program, &run, inclusive);
    }
}
