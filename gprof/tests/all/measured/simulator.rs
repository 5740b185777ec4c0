//! Runs programs with calls and tail calls, and knows which function called which.
#![allow(unreachable_pub, reason = "the module is part of a test")]

use std::collections::{BTreeMap, BTreeSet};

use gmon::{Arc, Dimension, Histogram, Unit};
use gprof::internals::{Functions, Symbol};
use gprof::{Place, Stacks};

pub const NAMES: [&str; 8] = ["main", "a", "b", "c", "d", "e", "f", "g"];

/// The first address, and the number of bytes of each function.
pub const LOW: u64 = 0x1000;
pub const SIZE: u64 = 128;

/// The number of call sites of a function, each of which has this many bytes. The first bytes of a function are no
/// site.
pub const SITES: usize = 4;
pub const SITE: u64 = 16;

/// A call site.
#[derive(Clone, Debug)]
pub enum Site {
    /// `call function`
    Direct(usize),
    /// `call *register`, which calls one of these functions.
    Indirect(Vec<usize>),
}

/// A program: the call sites of each function, and the functions that it may jump to at its end.
#[derive(Clone, Debug)]
pub struct Program {
    pub sites: Vec<Vec<Site>>,
    pub tails: Vec<Vec<usize>>,
    /// The functions, and the places in their lists of tails, of the jumps that go through a register. The others are
    /// direct.
    pub through_register: BTreeSet<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
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
pub struct Activation {
    return_address: u64,
    functions: Vec<usize>,
}

/// What a run counted, and what it knows.
pub struct Run {
    pub stacks: Stacks,
    pub arcs: Vec<Arc>,
    pub bins: Vec<u64>,
    /// For each function, the ticks during which it ran or waited for a function that it had called.
    pub inclusive: Vec<u64>,
    /// For each caller and called function, the calls.
    pub calls: BTreeMap<(usize, usize), u64>,
    /// For each caller and called function, the ticks during which the call lasted.
    pub pairs: BTreeMap<(usize, usize), u64>,
}

pub fn start(function: usize) -> u64 {
    LOW + function as u64 * SIZE
}

/// The return address of a call site.
pub fn after(function: usize, site: usize) -> u64 {
    start(function) + (site as u64 + 1) * SITE + 5
}

impl Program {
    /// The machine code: calls and jumps between instructions that do nothing.
    pub fn code(&self) -> Vec<u8> {
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
                if self.through_register.contains(&(function, at)) {
                    put(next - 2, &[0xff, 0xe0]);
                } else {
                    put(next - 5, &relative(0xe9, next, *to));
                }
            }
        }
        code
    }

    pub fn run(&self, steps: &[Step]) -> Run {
        let mut run = Run {
            stacks: Stacks::new(),
            arcs: vec![Arc::new(8, LOW + 4, 1)],
            bins: vec![0; NAMES.len() * SIZE as usize],
            inclusive: vec![0; NAMES.len()],
            calls: BTreeMap::new(),
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
                    *run.calls.entry((running, called)).or_insert(0) += 1;
                    run.arcs.push(Arc::new(return_address, start(called) + 4, 1));
                    stack.push(Activation { return_address, functions: vec![called] });
                }
                Step::Tail(which) if !self.tails[running].is_empty() && stack.len() > 1 => {
                    let called = self.tails[running][which % self.tails[running].len()];
                    let frompc = top.return_address;
                    *run.calls.entry((running, called)).or_insert(0) += 1;
                    run.arcs.push(Arc::new(frompc, start(called) + 4, 1));
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

    pub fn histogram(&self) -> Histogram {
        let (highpc, dimension) = (LOW + self.bins.len() as u64, Dimension::SECONDS);
        Histogram::new(LOW..highpc, Unit { profrate: 100, dimension, abbrev: b's' }, self.bins.clone()).unwrap()
    }
}

pub fn functions() -> Functions<'static> {
    let symbol = |at: usize| Symbol { address: start(at), name: NAMES[at].as_bytes(), is_static: false, is_func: true };
    Functions::new((0..NAMES.len()).map(symbol).collect(), start(NAMES.len()))
}
