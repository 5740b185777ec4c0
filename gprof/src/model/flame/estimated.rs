//! A flame graph that is estimated from the calls: the call graph, unfolded.
//!
//! Each frame gets the part of its function's time that the calls on the path to the frame hand up. A cycle is one
//! frame, as in the call graph, with its members above. The frames with the longest time are unfolded first; what is
//! left when a frame is too short, or when there are enough frames, becomes a frame "(cut)".

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::frames::{Certainty, Flame, FlameOrigin, FlameSubject, LEAST_PART, MOST_FRAMES, Raw};
use crate::model::bounds::Bounds;
use crate::model::graph::{Graph, Node};
use crate::model::ordered::Ordered;
use crate::program::symbols::functions::{FunctionId, Functions};

/// Makes the flame graph. `bounds` are those of the whole program, if the graph is about the whole program.
/// `lacks_calls`: any function may have had other callers when calls were not counted.
pub(crate) fn flame(graph: &Graph, functions: &Functions<'_>, bounds: Option<&Bounds>, lacks_calls: bool) -> Flame {
    let mut unfolding = Unfolding { lacks_calls, ..Unfolding::new(graph, functions, bounds) };
    unfolding.run(functions);
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
    /// Whether calls are missing that were not counted.
    lacks_calls: bool,
    callers: Callers,
    callees: Callees,
    /// The least time of a frame, in samples.
    least: f64,
    raw: Raw,
    /// The frames to unfold, with their time.
    open: BinaryHeap<(Ordered, Reverse<usize>, Target)>,
}

impl<'a> Unfolding<'a> {
    fn new(graph: &'a Graph, functions: &Functions<'_>, bounds: Option<&'a Bounds>) -> Unfolding<'a> {
        Unfolding {
            graph,
            bounds,
            lacks_calls: false,
            callers: Callers::new(graph, functions),
            callees: Callees::default(),
            least: graph.total() * LEAST_PART,
            raw: Raw::new(),
            open: BinaryHeap::new(),
        }
    }

    fn run(&mut self, functions: &Functions<'_>) {
        self.roots(functions);
        while let Some((Ordered(time), Reverse(frame), target)) = self.open.pop() {
            self.unfold(time, frame, target);
        }
    }

    /// Adds a frame for the time of each function or cycle that no caller gets.
    fn roots(&mut self, functions: &Functions<'_>) {
        let alone = functions.ids().filter(|id| self.graph.cycle_of(*id).is_none()).map(Target::Function);
        let targets: Vec<Target> = alone.chain((0..self.graph.cycles().len()).map(Target::Cycle)).collect();
        let mut roots: Vec<(Ordered, Reverse<usize>, Target)> = Vec::new();
        for (at, target) in targets.into_iter().enumerate() {
            let (whole, (_, handed)) = (target.time(self.graph), self.callers.of(target));
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

    /// Whether a frame with this time is long enough to be added.
    fn has_room(&self, time: f64) -> bool {
        time > 0.0 && time >= self.least && self.raw.len() < MOST_FRAMES
    }

    /// Adds a frame that will be unfolded. Returns the time if the frame is too short.
    fn add(&mut self, parent: usize, time: f64, target: Target) -> f64 {
        if !self.has_room(time) {
            return time.max(0.0);
        }
        let above = self.raw.frame(parent);
        let has_one_caller = self.callers.of(target).0 <= 1 && !self.lacks_calls;
        let is_certain = above.certainty == Certainty::Certain && has_one_caller;
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

    /// The bounds of a frame: those of the function if no other path leads to it. Otherwise other paths may have taken
    /// all time, and the frame has at most the time of its caller.
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

    /// Adds the callees of a frame, and gives the rest of the time to the frame itself. The callees behind the first
    /// one that is too short are cut together: a function with many callees may be called by many.
    fn unfold(&mut self, time: f64, frame: usize, target: Target) {
        let whole = target.time(self.graph);
        let part = if whole > 0.0 { time / whole } else { 0.0 };
        let number = self.callees.of(target, self.graph);
        let (mut at, mut cut) = (0, 0.0);
        while let Some(callee) = self.callees.get(number, at) {
            if !self.has_room(part * callee.samples) {
                cut = part * callee.rest;
                break;
            }
            self.add(frame, part * callee.samples, callee.target);
            at += 1;
        }
        self.cut(frame, cut);
        self.raw.count(frame, time - part * self.callees.handed(number));
    }
}

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
    target: Target,
    /// The time that the callee hands up, in samples.
    pub(super) samples: f64,
    /// The times of this callee and of all behind it.
    rest: f64,
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
struct Callees {
    lists: Vec<List>,
    numbers: HashMap<Target, usize>,
    /// How often a callee was looked at, so that a test can count the work.
    looked_at: usize,
}

impl Callees {
    /// Returns the number of the list of a target's callees. The first call for a target makes the list.
    fn of(&mut self, target: Target, graph: &Graph) -> usize {
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
    fn get(&mut self, number: usize, at: usize) -> Option<Callee> {
        self.looked_at += 1;
        self.lists[number].callees.get(at).copied()
    }

    /// Returns the time that all callees of a list hand up.
    fn handed(&self, number: usize) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::flat::Flat;
    use crate::model::graph::arcs::Arcs;
    use crate::model::graph::propagate::GraphSelection;
    use crate::model::selection::{ArcSelection, Selections};
    use crate::program::image::Symbol;

    /// A thousand functions call a function that calls as many others as `callees`. The time of each called function is
    /// far less than that of a frame. Returns how often a callee was looked at, and the flame graph.
    fn looked_at(callees: u64) -> (usize, Flame) {
        const CALLERS: u64 = 1000;
        let hub = CALLERS + 1;
        let symbol = |address| Symbol { address: 4 * address, name: b"f", is_static: false, is_func: true };
        let count = hub + callees;
        let functions = Functions::new((1..=count).map(symbol).collect(), 4 * (count + 1));
        let arc = |from: u64, to: u64| gmon::Arc::new(4 * from + 1, 4 * to, 1);
        let callers = (1..=CALLERS).map(|caller| arc(caller, hub));
        let arcs: Vec<gmon::Arc> = callers.chain((hub + 1..=count).map(|callee| arc(hub, callee))).collect();
        let Selections { graph: entries, time, .. } = Selections::program(&functions);
        let selection = GraphSelection { entries: &entries, time: &time, excludes_callees: true };
        let arcs = Arcs::selected(&arcs, &functions, &ArcSelection::default(), &[], false);
        let flat = Flat { time: vec![1.0; functions.len()], total: count as f64, runtime: 0.0 };
        let graph = Graph::unranked(arcs, &flat, &functions, selection);
        let mut unfolding = Unfolding::new(&graph, &functions, None);
        unfolding.run(&functions);
        (unfolding.callees.looked_at, unfolding.raw.finish(FlameOrigin::Estimated, |_| 0.0))
    }

    #[test]
    fn many_short_callees_of_many_frames_are_no_work() {
        for callees in [20_000, 40_000] {
            let (looked_at, flame) = looked_at(callees);
            assert!(flame.frames.len() > 2_000, "the function has a frame on each of its callers");
            // Each caller looks at its only callee, and behind it; on each caller, the function looks at its first
            // callee.
            let least = callees as usize + 3_000;
            assert!((least..least + 7_000).contains(&looked_at), "{callees}: {looked_at}");
            let sum: f64 = flame.frames.iter().map(|frame| frame.own).sum();
            let all = 1001.0 + callees as f64;
            assert!((sum - all).abs() < 1e-6 * all, "{sum}");
        }
    }

    /// Unfolds the calls of functions with this self time, each call from one function to another.
    fn unfolded(own: &[f64], calls: &[(u64, u64)], bounds: Option<&dyn Fn(&Functions<'_>) -> Bounds>) -> Flame {
        let symbol = |at: u64| Symbol { address: 4 * at, name: b"f", is_static: false, is_func: true };
        let count = own.len() as u64;
        let functions = Functions::new((1..=count).map(symbol).collect(), 4 * (count + 1));
        let arc = |(from, to): &(u64, u64)| gmon::Arc::new(4 * (from + 1) + 1, 4 * (to + 1), 1);
        let arcs: Vec<gmon::Arc> = calls.iter().map(arc).collect();
        let Selections { graph: entries, time, .. } = Selections::program(&functions);
        let selection = GraphSelection { entries: &entries, time: &time, excludes_callees: true };
        let arcs = Arcs::selected(&arcs, &functions, &ArcSelection::default(), &[], false);
        let flat = Flat { time: own.to_vec(), total: own.iter().sum(), runtime: 0.0 };
        let graph = Graph::unranked(arcs, &flat, &functions, selection);
        let bounds = bounds.map(|bounds| bounds(&functions));
        flame(&graph, &functions, bounds.as_ref(), false)
    }

    #[test]
    fn a_frame_has_the_bounds_that_its_paths_leave() {
        // Function 0 calls 1, 2, and the cycle of 3 and 4; and 1 calls 2. Nobody calls the cycle of 5 and 6.
        let calls = [(0, 1), (0, 2), (1, 2), (0, 3), (3, 4), (4, 3), (5, 6), (6, 5)];
        let bounds = |functions: &Functions<'_>| Bounds {
            lower: functions.ids().map(|id| id.index() as f64).collect(),
            upper: functions.ids().map(|id| [90.0, 20.0, 50.0, 80.0, 80.0, 80.0, 80.0][id.index()]).collect(),
            is_counted: vec![true; functions.len()],
            unseen: 0.0,
            is_upper_exact: true,
            tail_calls: 0,
            doubts: Vec::new(),
            parts: Vec::new(),
        };
        let flame = unfolded(&[1.0, 8.0, 16.0, 4.0, 2.0, 10.0, 5.0], &calls, Some(&bounds));
        let found = |at: usize, caller: Option<usize>| {
            let number = |subject| if let FlameSubject::Function(id) = subject { Some(id.index()) } else { None };
            let is_it = |frame: &&crate::FlameFrame| {
                let above = frame.parent.and_then(|above| number(flame.frames[above].subject));
                number(frame.subject) == Some(at) && above == caller
            };
            flame.frames.iter().find(is_it).map(|frame| frame.bounds)
        };
        assert_eq!(found(0, None), Some(Some((0.0, 90.0))));
        assert_eq!(found(1, Some(0)), Some(Some((1.0, 20.0))), "the only path leads here");
        assert_eq!(found(2, Some(0)), Some(Some((0.0, 50.0))));
        assert_eq!(found(2, Some(1)), Some(Some((0.0, 20.0))), "no longer than its caller");
        let cycles: Vec<_> =
            flame.frames.iter().filter(|frame| matches!(frame.subject, FlameSubject::Cycle(_))).collect();
        let of_cycles: Vec<_> = cycles.iter().map(|frame| (frame.inclusive, frame.parent, frame.bounds)).collect();
        let main = flame.frames.iter().position(|frame| frame.bounds == Some((0.0, 90.0)));
        assert!(of_cycles.contains(&(15.0, Some(0), None)), "{of_cycles:?}");
        assert!(of_cycles.contains(&(6.0, main, Some((0.0, 90.0)))), "{of_cycles:?}");
    }

    #[test]
    fn a_large_graph_is_unfolded_until_there_are_enough_frames() {
        // A hundred chains, each with the time at its end.
        const CHAINS: u64 = 100;
        const LENGTH: u64 = 250;
        let calls = (0..CHAINS * LENGTH).filter(|at| at % LENGTH != 0).map(|at| (at - 1, at)).collect::<Vec<_>>();
        let own = (0..CHAINS * LENGTH).map(|at| if at % LENGTH == LENGTH - 1 { 1.0 } else { 0.0 }).collect::<Vec<_>>();
        let flame = unfolded(&own, &calls, None);
        let unfolded = flame.frames.iter().filter(|frame| frame.subject != FlameSubject::Cut).count();
        assert_eq!((unfolded, flame.total()), (MOST_FRAMES, 100.0));
    }
}
