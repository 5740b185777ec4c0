//! A flame graph that is estimated from the calls: the call graph, unfolded.
//!
//! Each frame gets the part of its function's time that the calls on the path to the frame hand up. A cycle is one frame, as
//! in the call graph, with its members above. The frames with the longest time are unfolded first; what is left when a frame
//! is too short, or when there are enough frames, becomes a frame "(cut)".

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::frames::{Certainty, Flame, FlameOrigin, FlameSubject};
use super::raw::{LEAST_PART, MOST_FRAMES, Raw};
use crate::analysis::bounds::Bounds;
use crate::analysis::graph::{Graph, Node};
use crate::analysis::ordered::Ordered;
use crate::symbols::functions::{FunctionId, Functions};

/// What is unfolded: a function, a cycle, or a function as a member of its cycle's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Function(FunctionId),
    Cycle(usize),
    Member(FunctionId),
}

/// Makes the flame graph. `bounds` are those of the whole program, if the graph is about the whole program.
pub(crate) fn flame(graph: &Graph, functions: &Functions<'_>, bounds: Option<&Bounds>) -> Flame {
    let callers = Callers::new(graph, functions);
    let least = graph.total() * LEAST_PART;
    let mut unfolding = Unfolding { graph, bounds, callers, least, raw: Raw::new(), open: BinaryHeap::new() };
    unfolding.roots(functions);
    while let Some((Ordered(time), Reverse(frame), target)) = unfolding.open.pop() {
        unfolding.unfold(time, frame, target);
    }
    unfolding.raw.finish(FlameOrigin::Estimated, |_| 0.0)
}

/// How many functions call each function or cycle, and the time that goes to them.
struct Callers {
    functions: Vec<(u32, f64)>,
    cycles: Vec<(u32, f64)>,
}

impl Callers {
    fn new(graph: &Graph, functions: &Functions<'_>) -> Callers {
        let outside = |id: FunctionId| (u32::from(graph.from_outside(id).0 != 0), 0.0);
        let mut callers =
            Callers { functions: functions.ids().map(outside).collect(), cycles: vec![(0, 0.0); graph.cycles().len()] };
        for (at, cycle) in graph.cycles().iter().enumerate() {
            callers.cycles[at].0 = cycle.members.iter().map(|id| callers.functions[id.index()].0).max().unwrap_or(0);
        }
        for (arc, handed) in graph.arc_ids().map(|id| graph.arc(id)) {
            let Some((own, children)) = handed.filter(|_| !graph.is_inner(arc)) else { continue };
            let known = match graph.cycle_of(arc.child) {
                Some(at) => &mut callers.cycles[at],
                None => &mut callers.functions[arc.child.index()],
            };
            known.0 += 1;
            known.1 += own + children;
        }
        callers
    }

    fn of(&self, target: Target) -> (u32, f64) {
        match target {
            Target::Function(id) => self.functions[id.index()],
            Target::Cycle(at) => self.cycles[at],
            Target::Member(_) => (1, 0.0),
        }
    }
}

struct Unfolding<'a> {
    graph: &'a Graph,
    bounds: Option<&'a Bounds>,
    callers: Callers,
    /// The least time of a frame, in samples.
    least: f64,
    raw: Raw,
    /// The frames to unfold, with their time.
    open: BinaryHeap<(Ordered, Reverse<usize>, Target)>,
}

impl Unfolding<'_> {
    /// Adds a frame for the time of each function or cycle that no caller gets.
    fn roots(&mut self, functions: &Functions<'_>) {
        let alone = functions.ids().filter(|id| self.graph.cycle_of(*id).is_none()).map(Target::Function);
        let targets: Vec<Target> = alone.chain((0..self.graph.cycles().len()).map(Target::Cycle)).collect();
        let mut roots: Vec<(Ordered, Reverse<usize>, Target)> = Vec::new();
        for (at, target) in targets.into_iter().enumerate() {
            let (whole, (_, handed)) = (self.time(target), self.callers.of(target));
            let rest = whole - handed;
            // Sums of shares differ from the whole in their last bits.
            if rest > whole * 1e-9 {
                roots.push((Ordered(rest), Reverse(at), target));
            }
        }
        roots.sort_unstable_by(|one, other| other.cmp(one));
        let mut cut = 0.0;
        for (Ordered(time), _, target) in roots {
            cut += self.add(0, time, target);
        }
        self.cut(0, cut);
    }

    /// The time of a function or cycle with all that it called, in samples.
    fn time(&self, target: Target) -> f64 {
        let share = match target {
            Target::Function(id) | Target::Member(id) => self.graph.share(id),
            Target::Cycle(at) => self.graph.node_share(Node::Cycle(at)),
        };
        share.own + share.children
    }

    /// Adds a frame that will be unfolded. Returns the time if the frame is too short.
    fn add(&mut self, parent: usize, time: f64, target: Target) -> f64 {
        if time <= 0.0 || time < self.least || self.raw.len() >= MOST_FRAMES {
            return time.max(0.0);
        }
        let above = self.raw.frame(parent);
        let is_certain = above.certainty == Certainty::Certain && self.callers.of(target).0 <= 1;
        let certainty = if is_certain { Certainty::Certain } else { Certainty::Estimated };
        let bounds = self.bounds_of(target, certainty, above.bounds);
        let subject = match target {
            Target::Function(id) | Target::Member(id) => FlameSubject::Function(id),
            Target::Cycle(at) => FlameSubject::Cycle(at),
        };
        let frame = self.raw.add(parent, subject, certainty);
        self.raw.bound(frame, bounds);
        self.open.push((Ordered(time), Reverse(frame), target));
        0.0
    }

    /// The bounds of a frame: those of the function if no other path leads to it. Otherwise other paths may have taken all time,
    /// and the frame has at most the time of its caller.
    fn bounds_of(&self, target: Target, certainty: Certainty, above: Option<(f64, f64)>) -> Option<(f64, f64)> {
        let bounds = self.bounds?;
        let above = above.map_or(f64::INFINITY, |(_, upper)| upper);
        match (target, certainty) {
            (Target::Function(id), Certainty::Certain) => Some((bounds.lower[id.index()], bounds.upper[id.index()])),
            (Target::Function(id), _) => Some((0.0, bounds.upper[id.index()].min(above))),
            (Target::Cycle(_) | Target::Member(_), _) if above.is_finite() => Some((0.0, above)),
            _ => None,
        }
    }

    fn cut(&mut self, parent: usize, time: f64) {
        if time > 0.0 {
            let frame = self.raw.add(parent, FlameSubject::Cut, self.raw.frame(parent).certainty);
            self.raw.count(frame, time);
        }
    }

    /// Adds the callees of a frame, and gives the rest of the time to the frame itself.
    fn unfold(&mut self, time: f64, frame: usize, target: Target) {
        let whole = self.time(target);
        let part = if whole > 0.0 { time / whole } else { 0.0 };
        let (mut cut, mut handed) = (0.0, 0.0);
        for (callee, samples) in self.callees(target) {
            handed += part * samples;
            cut += self.add(frame, part * samples, callee);
        }
        self.cut(frame, cut);
        self.raw.count(frame, time - handed);
    }

    /// The callees of a function or the members of a cycle, with the time that they hand up.
    fn callees(&self, target: Target) -> BTreeMap<Target, f64> {
        let mut callees = BTreeMap::new();
        match target {
            Target::Cycle(at) => {
                let members = self.graph.cycles()[at].members.iter().map(|id| Target::Member(*id));
                callees.extend(members.map(|member| (member, self.time(member))));
            }
            Target::Function(id) | Target::Member(id) => {
                for (arc, handed) in self.graph.children(id).iter().map(|arc| self.graph.arc(*arc)) {
                    let Some((own, children)) = handed.filter(|_| !self.graph.is_inner(arc)) else { continue };
                    let callee = self.graph.cycle_of(arc.child).map_or(Target::Function(arc.child), Target::Cycle);
                    *callees.entry(callee).or_insert(0.0) += own + children;
                }
            }
        }
        callees
    }
}
