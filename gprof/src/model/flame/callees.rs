//! What a frame of an estimated flame graph can call, worked out once for all frames of a function.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::model::graph::{Graph, Node};
use crate::model::ordered::Ordered;
use crate::program::symbols::functions::FunctionId;

/// What is unfolded: a function, a cycle, or a function as a member of its cycle's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Target {
    Function(FunctionId),
    Cycle(usize),
    Member(FunctionId),
}

impl Target {
    /// The time of a function or cycle with all that it called, in samples.
    pub(super) fn time(self, graph: &Graph) -> f64 {
        let share = match self {
            Target::Function(id) | Target::Member(id) => graph.share(id),
            Target::Cycle(at) => graph.node_share(Node::Cycle(at)),
        };
        share.own + share.children
    }
}

/// A callee, or a member of a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Callee {
    pub(super) target: Target,
    /// The time that the callee hands up, in samples.
    pub(super) samples: f64,
    /// The times of this callee and of all behind it.
    pub(super) rest: f64,
}

/// The callees of one target.
#[derive(Debug)]
struct List {
    /// The callees that hand up time, the longest time first.
    callees: Vec<Callee>,
    /// The time that all callees hand up. Counters of a hostile profile may be negative.
    handed: f64,
}

/// The callees of each target that has been unfolded.
#[derive(Debug, Default)]
pub(super) struct Callees {
    lists: Vec<List>,
    numbers: HashMap<Target, usize>,
    /// How often a callee was looked at, so that a test can count the work.
    pub(super) looked_at: usize,
}

impl Callees {
    /// Returns the number of the list of a target's callees. The first call for a target makes the list.
    pub(super) fn of(&mut self, target: Target, graph: &Graph) -> usize {
        if let Some(number) = self.numbers.get(&target) {
            return *number;
        }
        let list = List::new(target, graph);
        self.looked_at += list.callees.len();
        self.lists.push(list);
        self.numbers.insert(target, self.lists.len() - 1);
        self.lists.len() - 1
    }

    /// Returns a callee of a list.
    pub(super) fn get(&mut self, number: usize, at: usize) -> Option<Callee> {
        self.looked_at += 1;
        self.lists[number].callees.get(at).copied()
    }

    /// Returns the time that all callees of a list hand up.
    pub(super) fn handed(&self, number: usize) -> f64 {
        self.lists[number].handed
    }
}

impl List {
    fn new(target: Target, graph: &Graph) -> List {
        let times = times(target, graph);
        let handed = times.values().sum();
        let callee = |(target, samples)| Callee { target, samples, rest: samples };
        let mut callees: Vec<Callee> = times.into_iter().map(callee).filter(|callee| callee.samples > 0.0).collect();
        callees.sort_by_key(|callee| (Reverse(Ordered(callee.samples)), callee.target));
        let mut rest = 0.0;
        for callee in callees.iter_mut().rev() {
            rest += callee.samples;
            callee.rest = rest;
        }
        List { callees, handed }
    }
}

/// The callees of a function or the members of a cycle, with the time that they hand up.
fn times(target: Target, graph: &Graph) -> BTreeMap<Target, f64> {
    let mut times = BTreeMap::new();
    match target {
        Target::Cycle(at) => {
            let members = graph.cycles()[at].members.iter().map(|id| Target::Member(*id));
            times.extend(members.map(|member| (member, member.time(graph))));
        }
        Target::Function(id) | Target::Member(id) => {
            for (arc, handed) in graph.children(id).iter().map(|arc| graph.arc(*arc)) {
                let Some((own, children)) = handed.filter(|_| !graph.is_inner(arc)) else { continue };
                let callee = graph.cycle_of(arc.child).map_or(Target::Function(arc.child), Target::Cycle);
                *times.entry(callee).or_insert(0.0) += own + children;
            }
        }
    }
    times
}
