//! The call graph: who called whom how often, and what time that accounts for.

pub mod arcs;
pub mod cycles;
pub mod propagate;

use std::cmp::{Ordering, Reverse};

use crate::analysis::flat::Flat;
use crate::analysis::ordered::Ordered;
use crate::symbols::functions::{FunctionId, Functions};
use arcs::{ArcId, Arcs};
use cycles::{Cycle, Cycles};
use propagate::{Choices, Handed, Share, Times};

/// What has an entry in the call graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A function.
    Function(FunctionId),
    /// The cycle with this place in [`Graph::cycles`]; people count from one.
    Cycle(usize),
}

/// The call graph with its times, ready to be shown.
#[derive(Debug)]
pub struct Graph {
    arcs: Arcs,
    cycles: Cycles,
    times: Times,
    /// All functions and cycles, the one that took most time first.
    pub ranking: Vec<Node>,
    function_rank: Vec<u32>,
    cycle_rank: Vec<u32>,
}

impl Graph {
    /// Finds cycles, propagates times and ranks everything.
    #[must_use]
    pub fn new(arcs: Arcs, flat: &Flat, functions: &Functions<'_>, choices: Choices<'_>) -> Graph {
        let mut graph = Graph::unranked(arcs, flat, functions, choices);
        sort_arcs(&mut graph.arcs, &graph.cycles, &graph.times);
        sort_members(&mut graph.cycles, &graph.arcs, &graph.times);
        graph.ranking = ranking(functions, &graph.arcs, &graph.times);
        for (rank, node) in (1..).zip(&graph.ranking) {
            match *node {
                Node::Function(id) => graph.function_rank[id.index()] = rank,
                Node::Cycle(at) => graph.cycle_rank[at] = rank,
            }
        }
        graph
    }

    /// Finds cycles and propagates times. Nothing has a rank, and arcs and members of cycles are in no useful order: that is
    /// enough for those who want to know of each function what it took.
    #[must_use]
    pub fn unranked(arcs: Arcs, flat: &Flat, functions: &Functions<'_>, choices: Choices<'_>) -> Graph {
        let cycles = Cycles::new(&arcs, functions);
        let times = Times::new(&arcs, &cycles, flat, functions, choices);
        let (function_rank, cycle_rank) = (vec![0; functions.len()], vec![0; cycles.all.len()]);
        Graph { function_rank, cycle_rank, arcs, cycles, times, ranking: Vec::new() }
    }

    /// How often other functions called a function.
    #[must_use]
    pub fn calls(&self, id: FunctionId) -> u64 {
        self.arcs.calls[id.index()]
    }

    /// How often a function called itself.
    #[must_use]
    pub fn self_calls(&self, id: FunctionId) -> u64 {
        self.arcs.self_calls[id.index()]
    }

    /// The calls of a function by which its time is divided: those of its cycle from outside, if it is in one.
    #[must_use]
    pub fn divided_by(&self, id: FunctionId) -> u64 {
        self.cycle_of(id).map_or(self.calls(id), |at| self.cycles.all[at].calls)
    }

    /// How often something called a function that is no function of the program, and the time that this hands up.
    #[must_use]
    #[allow(clippy::wrong_self_convention, reason = "calls from outside, not a conversion")]
    pub fn from_outside(&self, id: FunctionId) -> (u64, Option<Handed>) {
        let count = self.arcs.from_outside[id.index()];
        (count, self.times.outside[id.index()].filter(|_| count != 0))
    }

    /// How often a function called what is no function of the program.
    #[must_use]
    pub fn to_outside(&self, id: FunctionId) -> u64 {
        self.arcs.to_outside[id.index()]
    }

    /// The arcs that reach a function, the least first.
    #[must_use]
    pub fn parents(&self, id: FunctionId) -> &[ArcId] {
        self.arcs.parents(id)
    }

    /// The arcs that leave a function, the greatest first.
    #[must_use]
    pub fn children(&self, id: FunctionId) -> &[ArcId] {
        self.arcs.children(id)
    }

    /// All arcs.
    pub fn arc_ids(&self) -> impl ExactSizeIterator<Item = ArcId> + use<> {
        0..self.arcs.all.len() as ArcId
    }

    /// An arc, with the time that it hands up. There is none when it stays within a cycle.
    #[must_use]
    pub fn arc(&self, id: ArcId) -> (&arcs::Arc, Option<Handed>) {
        let arc = self.arcs.get(id);
        (arc, (!is_inner(arc, &self.cycles)).then(|| self.times.arcs[id as usize]))
    }

    /// The cycles, their members in the order of their time.
    #[must_use]
    pub fn cycles(&self) -> &[Cycle] {
        &self.cycles.all
    }

    /// The place of a function's cycle in [`Graph::cycles`], if it is in one.
    #[must_use]
    pub fn cycle_of(&self, id: FunctionId) -> Option<usize> {
        self.cycles.of[id.index()].map(|cycle| cycle as usize)
    }

    /// What a function took.
    #[must_use]
    pub fn share(&self, id: FunctionId) -> &Share {
        &self.times.functions[id.index()]
    }

    /// What a cycle took.
    #[must_use]
    pub fn cycle_share(&self, at: usize) -> &Share {
        &self.times.cycles[at]
    }

    /// What a function or a cycle took.
    #[must_use]
    pub fn node_share(&self, node: Node) -> &Share {
        match node {
            Node::Function(id) => self.share(id),
            Node::Cycle(at) => self.cycle_share(at),
        }
    }

    /// The part of all time that a function or a cycle took with what it called, in percent.
    #[must_use]
    pub fn percent(&self, node: Node) -> f64 {
        let share = self.node_share(node);
        100.0 * (share.own + share.children) / whole(self.total())
    }

    /// How often others called a function or a cycle, and how often it called itself.
    #[must_use]
    pub fn node_calls(&self, node: Node) -> (u64, u64) {
        match node {
            Node::Function(id) => (self.calls(id), self.self_calls(id)),
            Node::Cycle(at) => (self.cycles.all[at].calls, self.cycles.all[at].inner_calls),
        }
    }

    /// Whether a function or a cycle was called or took time.
    #[must_use]
    pub fn is_used(&self, node: Node) -> bool {
        let share = self.node_share(node);
        self.node_calls(node) != (0, 0) || share.own != 0.0 || share.children != 0.0
    }

    /// The rank of a function or a cycle, from one: the number in brackets behind its name.
    #[must_use]
    pub fn rank(&self, node: Node) -> u32 {
        match node {
            Node::Function(id) => self.function_rank[id.index()],
            Node::Cycle(at) => self.cycle_rank[at],
        }
    }

    /// The time of all functions, as far as it counts, in samples.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.times.total
    }
}

/// What percentages are of, given the total: no time at all counts as one sample.
pub(crate) fn whole(total: f64) -> f64 {
    if total > 0.0 { total } else { 1.0 }
}

fn is_inner(arc: &arcs::Arc, cycles: &Cycles) -> bool {
    arc.parent == arc.child || cycles.same(arc.parent, arc.child)
}

/// Orders the arcs of each function: calls of itself, calls within its cycle, all others by time.
fn sort_arcs(arcs: &mut Arcs, cycles: &Cycles, times: &Times) {
    let keys: Vec<(u8, Ordered, u64)> = (0..)
        .zip(&arcs.all)
        .map(|(at, arc): (usize, _)| {
            if arc.parent == arc.child {
                (0, Ordered(0.0), 0)
            } else if cycles.same(arc.parent, arc.child) {
                (1, Ordered(0.0), arc.count)
            } else {
                let (own, children) = times.arcs[at];
                (2, Ordered(own + children), arc.count)
            }
        })
        .collect();
    arcs.sort(|id| keys[id as usize]);
}

/// Orders the members of each cycle by time, then by calls.
fn sort_members(cycles: &mut Cycles, arcs: &Arcs, times: &Times) {
    for cycle in &mut cycles.all {
        cycle.members.sort_by_key(|member| {
            let (at, share) = (member.index(), &times.functions[member.index()]);
            Reverse((Ordered(share.own + share.children), arcs.calls[at].saturating_add(arcs.self_calls[at])))
        });
    }
}

/// All functions and cycles by time; cycles before functions, then names that do not begin with an underscore, then by
/// calls and names.
fn ranking(functions: &Functions<'_>, arcs: &Arcs, times: &Times) -> Vec<Node> {
    let time = |share: &Share| Reverse(Ordered(share.own + share.children));
    let mut nodes: Vec<_> = functions
        .ids()
        .map(|id| (time(&times.functions[id.index()]), Node::Function(id)))
        .chain(times.cycles.iter().enumerate().map(|(at, share)| (time(share), Node::Cycle(at))))
        .collect();
    let by_name = |one: FunctionId, other: FunctionId| {
        let key = |id: FunctionId| {
            let name = functions[id].name;
            (name.starts_with(b"_"), Reverse(arcs.calls[id.index()]), name)
        };
        key(one).cmp(&key(other))
    };
    nodes.sort_by(|(one_time, one), (other_time, other)| {
        one_time.cmp(other_time).then_with(|| match (*one, *other) {
            (Node::Cycle(_), Node::Cycle(_)) => Ordering::Equal,
            (Node::Cycle(_), Node::Function(_)) => Ordering::Less,
            (Node::Function(_), Node::Cycle(_)) => Ordering::Greater,
            (Node::Function(one), Node::Function(other)) => by_name(one, other),
        })
    });
    nodes.into_iter().map(|(_, node)| node).collect()
}
