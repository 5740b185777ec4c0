//! The call graph: arcs, cycles, and the time that called functions hand to their callers.

pub mod arcs;
pub mod cycles;
pub mod propagate;

use std::cmp::{Ordering, Reverse};

use crate::model::contexts::measured::Measured;
use crate::model::contexts::ranges::{Range, Ranges};
use crate::model::estimates::{CallEstimate, CallEstimates};
use crate::model::flat::Flat;
use crate::model::ordered::Ordered;
use crate::model::percent::whole;
use crate::program::symbols::functions::{FunctionId, Functions};
use arcs::{ArcId, Arcs, CallSums};
use cycles::{Cycle, Cycles};
use propagate::{GraphSelection, Handed, Inputs, Share, Times};

/// A function or cycle, as a node of the call graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A function.
    Function(FunctionId),
    /// The cycle with this index. Reports count cycles from one.
    Cycle(usize),
}

/// The call graph with its times, ready for reports.
#[derive(Debug)]
pub struct Graph {
    arcs: Arcs,
    cycles: Cycles,
    times: Times,
    /// All functions and cycles, the longest time first.
    pub ranking: Vec<Node>,
    function_rank: Vec<u32>,
    cycle_rank: Vec<u32>,
    /// Whether the times of called functions were measured, not estimated.
    is_measured: bool,
    /// How far measured times may be from the truth.
    ranges: Ranges,
    /// The calls that were estimated. No number of calls contains them.
    estimates: CallEstimates,
}

impl Graph {
    /// Finds cycles, propagates times and ranks functions and cycles.
    #[must_use]
    pub fn new(arcs: Arcs, flat: &Flat, functions: &Functions<'_>, selection: GraphSelection<'_>) -> Graph {
        Graph::unranked(arcs, flat, functions, selection).ranked(functions)
    }

    /// Adds the calls that were estimated.
    #[must_use]
    pub fn with_estimates(self, estimates: CallEstimates) -> Graph {
        Graph { estimates, ..self }
    }

    /// Ranks functions and cycles, and sorts arcs and the members of cycles.
    #[must_use]
    pub fn ranked(mut self, functions: &Functions<'_>) -> Graph {
        let estimates = &self.estimates;
        sort_arcs(&mut self.arcs, &self.cycles, &self.times, self.is_measured, estimates);
        sort_members(&mut self.cycles, &self.arcs, &self.times, estimates);
        self.ranking = ranking(functions, &self.arcs, &self.times, estimates);
        for (rank, node) in (1..).zip(&self.ranking) {
            match *node {
                Node::Function(id) => self.function_rank[id.index()] = rank,
                Node::Cycle(at) => self.cycle_rank[at] = rank,
            }
        }
        self
    }

    /// Finds cycles and propagates times, but ranks nothing and sorts neither arcs nor members of cycles. This is
    /// enough for the times of functions.
    #[must_use]
    pub fn unranked(arcs: Arcs, flat: &Flat, functions: &Functions<'_>, selection: GraphSelection<'_>) -> Graph {
        let cycles = Cycles::new(&arcs, functions);
        let times = Times::new(Inputs { arcs: &arcs, cycles: &cycles, flat, functions, selection });
        Graph::with_times(arcs, cycles, times, functions, false)
    }

    /// Finds cycles, and takes the times that the stacks show. Like [`Graph::unranked`], this sorts nothing.
    #[must_use]
    pub fn measured(
        arcs: Arcs,
        flat: &Flat,
        functions: &Functions<'_>,
        selection: GraphSelection<'_>,
        measured: &Measured,
    ) -> Graph {
        let cycles = Cycles::new(&arcs, functions);
        let times = Times::measured(Inputs { arcs: &arcs, cycles: &cycles, flat, functions, selection }, measured);
        let graph = Graph::with_times(arcs, cycles, times, functions, true);
        Graph { ranges: measured.ranges.clone(), ..graph }
    }

    fn with_times(arcs: Arcs, cycles: Cycles, times: Times, functions: &Functions<'_>, is_measured: bool) -> Graph {
        let (function_rank, cycle_rank) = (vec![0; functions.len()], vec![0; cycles.all.len()]);
        let (ranking, ranges, estimates) = (Vec::new(), Ranges::default(), CallEstimates::default());
        Graph { function_rank, cycle_rank, arcs, cycles, times, is_measured, ranges, estimates, ranking }
    }

    /// Returns the calls that were estimated.
    #[must_use]
    pub fn estimates(&self) -> &CallEstimates {
        &self.estimates
    }

    /// Returns the estimated calls of a function by others, if its calls were not counted.
    #[must_use]
    pub fn estimate(&self, id: FunctionId) -> Option<CallEstimate> {
        self.estimates.of(id).filter(|_| self.calls(id) == 0)
    }

    /// Returns the estimated calls of an arc, if its calls were not counted.
    #[must_use]
    pub fn arc_estimate(&self, arc: &arcs::Arc) -> Option<CallEstimate> {
        self.estimates.of_pair(Some(arc.parent), arc.child).filter(|_| arc.count == 0)
    }

    /// Returns the least and the longest inclusive time of a function in samples, if tail calls leave a doubt.
    #[must_use]
    pub fn inclusive_range(&self, id: FunctionId) -> Option<(f64, f64)> {
        let share = self.share(id);
        self.ranges.functions.get(&id).map(|range| around(share.own + share.children, *range))
    }

    /// Returns the least and the longest inclusive time of the calls of an arc in samples, if tail calls leave a doubt.
    /// `time` is the time that reports show.
    #[must_use]
    pub fn arc_range(&self, caller: Option<FunctionId>, called: FunctionId, time: f64) -> Option<(f64, f64)> {
        self.ranges.pairs.get(&(caller, called)).map(|range| around(time, *range))
    }

    /// Returns whether tail calls leave a doubt about the time of any function or arc.
    #[must_use]
    pub fn has_ranges(&self) -> bool {
        !self.ranges.functions.is_empty() || !self.ranges.pairs.is_empty()
    }

    /// Returns the sums over all arcs of the profile.
    #[must_use]
    pub fn call_sums(&self) -> CallSums {
        self.arcs.sums
    }

    /// Returns the number of calls by other functions.
    #[must_use]
    pub fn calls(&self, id: FunctionId) -> u64 {
        self.arcs.calls[id.index()]
    }

    /// Returns the number of calls of a function by itself.
    #[must_use]
    pub fn self_calls(&self, id: FunctionId) -> u64 {
        self.arcs.self_calls[id.index()]
    }

    /// Returns the number of calls that a function's time is divided by: if the function is in a cycle, the calls of
    /// the cycle from outside.
    #[must_use]
    pub fn divided_by(&self, id: FunctionId) -> u64 {
        self.cycle_of(id).map_or(self.calls(id), |at| self.cycles.all[at].calls)
    }

    /// Returns the number of calls of a function by code outside of all functions, and the time that these calls hand
    /// up.
    #[must_use]
    #[allow(clippy::wrong_self_convention, reason = "calls from outside, not a conversion")]
    pub fn from_outside(&self, id: FunctionId) -> (u64, Option<Handed>) {
        let count = self.arcs.from_outside[id.index()];
        (count, self.times.outside[id.index()].filter(|_| count != 0))
    }

    /// Returns the number of a function's calls of code outside of all functions.
    #[must_use]
    pub fn to_outside(&self, id: FunctionId) -> u64 {
        self.arcs.to_outside[id.index()]
    }

    /// Returns the arcs that lead to a function, in ascending order of time.
    #[must_use]
    pub fn parents(&self, id: FunctionId) -> &[ArcId] {
        self.arcs.parents(id)
    }

    /// Returns the arcs that leave a function, in descending order of time.
    #[must_use]
    pub fn children(&self, id: FunctionId) -> &[ArcId] {
        self.arcs.children(id)
    }

    /// Returns all arcs.
    pub fn arc_ids(&self) -> impl ExactSizeIterator<Item = ArcId> + use<> {
        0..self.arcs.all.len() as ArcId
    }

    /// Returns an arc, and the time that the arc hands to the caller. Calls of a function by itself hand up no time. An
    /// arc within a cycle hands up time only if the time was measured.
    #[must_use]
    pub fn arc(&self, id: ArcId) -> (&arcs::Arc, Option<Handed>) {
        let arc = self.arcs.get(id);
        let has_time = arc.parent != arc.child && (self.is_measured || !is_inner(arc, &self.cycles));
        (arc, has_time.then(|| self.times.arcs[id as usize]))
    }

    /// Returns whether an arc leads from a function to itself, or to a member of the function's cycle.
    #[must_use]
    pub fn is_inner(&self, arc: &arcs::Arc) -> bool {
        is_inner(arc, &self.cycles)
    }

    /// Returns the cycles. The members of each cycle are in the order of their time.
    #[must_use]
    pub fn cycles(&self) -> &[Cycle] {
        &self.cycles.all
    }

    /// Returns the index of a function's cycle in [`Graph::cycles`], if the function is in a cycle.
    #[must_use]
    pub fn cycle_of(&self, id: FunctionId) -> Option<usize> {
        self.cycles.of[id.index()].map(|cycle| cycle as usize)
    }

    /// Returns the time of a function.
    #[must_use]
    pub fn share(&self, id: FunctionId) -> &Share {
        &self.times.functions[id.index()]
    }

    /// Returns the time of a cycle.
    #[must_use]
    pub fn cycle_share(&self, at: usize) -> &Share {
        &self.times.cycles[at]
    }

    /// Returns the time of a function or a cycle.
    #[must_use]
    pub fn node_share(&self, node: Node) -> &Share {
        match node {
            Node::Function(id) => self.share(id),
            Node::Cycle(at) => self.cycle_share(at),
        }
    }

    /// Returns the time of a function or a cycle with all that it called, as a percentage of all time.
    #[must_use]
    pub fn percent(&self, node: Node) -> f64 {
        let share = self.node_share(node);
        100.0 * (share.own + share.children) / whole(self.total())
    }

    /// Returns the number of calls of a function or a cycle from outside, and by itself or within the cycle.
    #[must_use]
    pub fn node_calls(&self, node: Node) -> (u64, u64) {
        match node {
            Node::Function(id) => (self.calls(id), self.self_calls(id)),
            Node::Cycle(at) => (self.cycles.all[at].calls, self.cycles.all[at].inner_calls),
        }
    }

    /// Returns whether a function or a cycle was called or took time.
    #[must_use]
    pub fn is_used(&self, node: Node) -> bool {
        let share = self.node_share(node);
        let is_seen = || match node {
            Node::Function(id) => self.estimates.are_seen(id),
            Node::Cycle(at) => self.cycles.all[at].members.iter().any(|id| self.estimates.are_seen(*id)),
        };
        self.node_calls(node) != (0, 0) || share.own != 0.0 || share.children != 0.0 || is_seen()
    }

    /// Returns the rank of a function or a cycle, counted from one. Reports show the rank in brackets behind the name.
    #[must_use]
    pub fn rank(&self, node: Node) -> u32 {
        match node {
            Node::Function(id) => self.function_rank[id.index()],
            Node::Cycle(at) => self.cycle_rank[at],
        }
    }

    /// Returns the time of all functions that counts, in samples.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.times.total
    }
}

fn is_inner(arc: &arcs::Arc, cycles: &Cycles) -> bool {
    arc.parent == arc.child || cycles.same(arc.parent, arc.child)
}

/// Returns the least and the longest time that a range allows around a time.
fn around(time: f64, range: Range) -> (f64, f64) {
    ((time - range.less as f64).max(0.0), time + range.more as f64)
}

/// Sorts the arcs of each function: calls of the function by itself, calls within its cycle, other calls by time.
/// Measured calls within a cycle are among the others.
fn sort_arcs(arcs: &mut Arcs, cycles: &Cycles, times: &Times, is_measured: bool, estimates: &CallEstimates) {
    let calls = |arc: &arcs::Arc| match arc.count {
        0 => estimates.of_pair(Some(arc.parent), arc.child).map_or(0, |estimate| estimate.calls),
        count => count,
    };
    let keys: Vec<(u8, Ordered, u64)> = (0..)
        .zip(&arcs.all)
        .map(|(at, arc): (usize, _)| {
            if arc.parent == arc.child {
                (0, Ordered(0.0), 0)
            } else if !is_measured && cycles.same(arc.parent, arc.child) {
                (1, Ordered(0.0), calls(arc))
            } else {
                let (own, children) = times.arcs[at];
                (2, Ordered(own + children), calls(arc))
            }
        })
        .collect();
    arcs.sort(|id| keys[id as usize]);
}

/// Sorts the members of each cycle by time, then by calls.
fn sort_members(cycles: &mut Cycles, arcs: &Arcs, times: &Times, estimates: &CallEstimates) {
    let calls = |id: FunctionId| match arcs.calls[id.index()].saturating_add(arcs.self_calls[id.index()]) {
        0 => estimates.of(id).map_or(0, |estimate| estimate.calls),
        calls => calls,
    };
    for cycle in &mut cycles.all {
        cycle.members.sort_by_key(|member| {
            let share = &times.functions[member.index()];
            Reverse((Ordered(share.own + share.children), calls(*member)))
        });
    }
}

/// Ranks all functions and cycles by time. At equal times, cycles come before functions, names that begin with an
/// underscore come last, and functions are in the order of calls and names.
fn ranking(functions: &Functions<'_>, arcs: &Arcs, times: &Times, estimates: &CallEstimates) -> Vec<Node> {
    let calls = |id: FunctionId| match arcs.calls[id.index()] {
        0 => estimates.of(id).map_or(0, |estimate| estimate.calls),
        calls => calls,
    };
    let time = |share: &Share| Reverse(Ordered(share.own + share.children));
    let mut nodes: Vec<_> = functions
        .ids()
        .map(|id| (time(&times.functions[id.index()]), Node::Function(id)))
        .chain(times.cycles.iter().enumerate().map(|(at, share)| (time(share), Node::Cycle(at))))
        .collect();
    let by_name = |one: FunctionId, other: FunctionId| {
        let key = |id: FunctionId| {
            let name = functions[id].name;
            (name.starts_with(b"_"), Reverse(calls(id)), name)
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
