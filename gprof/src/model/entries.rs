//! The lines of the entries in the call graph.
//!
//! The lines are computed when a renderer asks for them, because all lines together take far more memory than the
//! graph.

use super::analysis::Analysis;
use super::errors::Errors;
use super::estimates::CallEstimate;
use crate::model::graph::arcs::ArcId;
use crate::model::graph::{Graph, Node};
use crate::program::symbols::functions::FunctionId;

/// The role of a line in its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A caller of the entry's function, above the primary line.
    Caller,
    /// The primary line, which is about the entry's function or cycle itself.
    Primary(Node),
    /// A function that the entry's function calls, or a member of the entry's cycle, below the primary line.
    Callee,
}

/// The number of calls on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// No calls.
    None,
    /// All calls of a function or of a cycle.
    Total {
        /// Calls by other functions.
        outer: u64,
        /// Calls by the function itself, or within the cycle.
        inner: u64,
    },
    /// Calls of a function by itself, or calls within a cycle. These calls hand no time to the caller.
    WithinCycle(u64),
    /// The calls of one arc, which are a part of all calls of the called function.
    Part {
        /// The calls of the arc.
        some: u64,
        /// All calls of the called function, or of its cycle.
        all: u64,
    },
}

/// The function or cycle that a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Callers that the profile does not know.
    Spontaneous,
    /// Code outside of all functions of the program.
    Outside,
    /// A function.
    Function(FunctionId),
    /// The cycle with this index. Reports count cycles from one.
    Cycle(usize),
}

/// A line of an entry. Times are in the unit of the samples, normally seconds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EntryLine {
    /// The role of the line in its entry.
    pub kind: LineKind,
    /// The self time and the time of called functions; `None` where the arc hands no time to the caller.
    pub times: Option<(f64, f64)>,
    /// The standard error of the self time; 0 when the options do not ask for errors, and on lines of arcs whose times
    /// are estimated.
    pub error: f64,
    /// The standard error of the time of called functions; 0 when the options do not ask for errors, and for estimates.
    pub children_error: f64,
    /// The standard error of the self time and the time of called functions together; 0 as for `children_error`.
    pub inclusive_error: f64,
    /// The least and the longest self time and time of called functions together, if tail calls leave a doubt about the
    /// measured times.
    pub range: Option<(f64, f64)>,
    /// The number of calls.
    pub calls: Calls,
    /// The estimated calls, if they were estimated and not counted: those of the function by others, or those of the
    /// arc.
    pub estimate: Option<CallEstimate>,
    /// The estimated calls of the function by itself; on the line of an arc, those of the called function by others.
    pub more_estimate: Option<CallEstimate>,
    /// The function or cycle that the line is about.
    pub endpoint: Endpoint,
}

impl EntryLine {
    /// Whether the times are those of an arc, not of a whole function or cycle.
    fn is_of_arc(&self) -> bool {
        !matches!((self.kind, self.calls), (LineKind::Primary(_), _) | (_, Calls::Total { .. }))
    }

    fn new(kind: LineKind, times: Option<(f64, f64)>, calls: Calls, endpoint: Endpoint) -> EntryLine {
        EntryLine {
            kind,
            times,
            error: 0.0,
            children_error: 0.0,
            inclusive_error: 0.0,
            range: None,
            calls,
            estimate: None,
            more_estimate: None,
            endpoint,
        }
    }
}

impl Analysis<'_> {
    /// Returns the lines of an entry of the call graph, from the top.
    #[must_use]
    pub fn entry(&self, node: Node) -> Vec<EntryLine> {
        lines(self.graph(), self.errors(), self.clock.rate, node)
    }
}

/// Returns the lines of an entry, from the top. `rate` is the number of samples for each unit of time.
pub(crate) fn lines(graph: &Graph, errors: &Errors, rate: f64, node: Node) -> Vec<EntryLine> {
    let mut lines = match node {
        Node::Function(id) => function(graph, errors, id),
        Node::Cycle(at) => cycle(graph, errors, at),
    };
    // A rate of 0 must not turn an error of 0 into NaN.
    let error = |error: f64| if error == 0.0 { 0.0 } else { error / rate };
    for line in &mut lines {
        let (own, children) = line.times.unwrap_or_default();
        // The self time of a function comes from all samples, that of an arc from the stacks.
        let is_of_arc = line.is_of_arc();
        let own_error = if is_of_arc { errors.of_measured(own) } else { errors.of_part(line.error, own) };
        line.error = error(own_error);
        line.children_error = error(errors.of_measured(children));
        line.inclusive_error = error(errors.of_measured(own + children));
        line.times = line.times.map(|(own, children)| (own / rate, children / rate));
        line.range = line.range.map(|(least, most)| (least / rate, most / rate));
    }
    lines
}

/// Returns the lines of a function's entry: its callers, the function itself, and the functions that it calls.
fn function(graph: &Graph, errors: &Errors, id: FunctionId) -> Vec<EntryLine> {
    let mut lines = Vec::new();
    let (outside, handed) = graph.from_outside(id);
    if outside != 0 {
        let calls = Calls::Part { some: outside, all: graph.divided_by(id) };
        let (own, children) = handed.unwrap_or_default();
        let range = graph.arc_range(None, id, own + children);
        let line = EntryLine::new(LineKind::Caller, Some((own, children)), calls, Endpoint::Outside);
        lines.push(EntryLine { range, ..line });
    } else if let Some(estimate) = graph.estimates().of_pair(None, id).filter(|estimate| estimate.seen > 0) {
        let (estimate, more_estimate) = (Some(estimate), graph.estimate(id));
        let line = EntryLine::new(LineKind::Caller, None, Calls::None, Endpoint::Outside);
        lines.push(EntryLine { estimate, more_estimate, ..line });
    } else if graph.parents(id).is_empty() {
        lines.push(EntryLine::new(LineKind::Caller, None, Calls::None, Endpoint::Spontaneous));
    }
    lines.extend(graph.parents(id).iter().map(|arc| arc_line(graph, *arc, LineKind::Caller)));
    lines.push(own(graph, errors, id, LineKind::Primary(Node::Function(id))));
    lines.extend(graph.children(id).iter().map(|arc| arc_line(graph, *arc, LineKind::Callee)));
    if graph.to_outside(id) != 0 {
        let calls = Calls::Part { some: graph.to_outside(id), all: graph.to_outside(id) };
        lines.push(EntryLine::new(LineKind::Callee, Some((0.0, 0.0)), calls, Endpoint::Outside));
    }
    lines
}

/// Returns the lines of a cycle's entry: the cycle as a whole, and its members.
fn cycle(graph: &Graph, errors: &Errors, at: usize) -> Vec<EntryLine> {
    let (cycle, share) = (&graph.cycles()[at], graph.cycle_share(at));
    let is_estimated = |id: &FunctionId| graph.estimate(*id).is_some();
    let calls = match (cycle.calls, cycle.inner_calls) {
        // The estimates of members are not those of the cycle.
        (0, 0) if cycle.members.iter().any(is_estimated) => Calls::None,
        (outer, inner) => Calls::Total { outer, inner },
    };
    let times = Some((share.own, share.children));
    let main = EntryLine {
        error: share.fraction * errors.of(Node::Cycle(at)),
        ..EntryLine::new(LineKind::Primary(Node::Cycle(at)), times, calls, Endpoint::Cycle(at))
    };
    let members = cycle.members.iter().map(|member| {
        // The line of a member shows its calls even if there are none.
        let calls = Calls::Total { outer: graph.calls(*member), inner: graph.self_calls(*member) };
        EntryLine { calls, ..own(graph, errors, *member, LineKind::Callee) }
    });
    std::iter::once(main).chain(members).collect()
}

/// Returns the line of a function with its own times and calls.
fn own(graph: &Graph, errors: &Errors, id: FunctionId, kind: LineKind) -> EntryLine {
    let share = graph.share(id);
    let calls = match (graph.calls(id), graph.self_calls(id)) {
        (0, 0) => Calls::None,
        (outer, inner) => Calls::Total { outer, inner },
    };
    let error = share.fraction * errors.of(Node::Function(id));
    let range = graph.inclusive_range(id);
    let line = EntryLine::new(kind, Some((share.own, share.children)), calls, Endpoint::Function(id));
    let by_itself = graph.estimates().of_pair(Some(id), id).filter(|by_itself| by_itself.seen > 0);
    let (estimate, more_estimate) = (graph.estimate(id), by_itself.filter(|_| graph.self_calls(id) == 0));
    EntryLine { error, range, estimate, more_estimate, ..line }
}

/// Returns the line of a caller or of a called function.
fn arc_line(graph: &Graph, id: ArcId, kind: LineKind) -> EntryLine {
    let (arc, handed) = graph.arc(id);
    let endpoint = Endpoint::Function(if kind == LineKind::Caller { arc.parent } else { arc.child });
    let calls = match graph.is_inner(arc) {
        true => Calls::WithinCycle(arc.count),
        false => Calls::Part { some: arc.count, all: graph.divided_by(arc.child) },
    };
    let range = handed.and_then(|(own, children)| graph.arc_range(Some(arc.parent), arc.child, own + children));
    let estimate = graph.arc_estimate(arc);
    let more_estimate = graph.estimate(arc.child).filter(|_| estimate.is_some() && !graph.is_inner(arc));
    EntryLine { range, estimate, more_estimate, ..EntryLine::new(kind, handed, calls, endpoint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    use gmon::{Histogram, Unit};

    use crate::model::contexts::measured::{FunctionTicks, Measured, StackSelection, Ticks};
    use crate::model::contexts::ranges::Range;
    use crate::model::contexts::ticks::StackSums;
    use crate::model::contexts::tree::Contexts;
    use crate::model::division::Innermost;
    use crate::model::flat::Flat;
    use crate::model::graph::arcs::Arcs;
    use crate::model::graph::propagate::GraphSelection;
    use crate::model::selection::{ArcSelection, Selections};
    use crate::program::image::Symbol;
    use crate::program::symbols::functions::Functions;

    /// The lines of `f`, which code outside of all functions and `main` call, and which calls `g`. Of the 100 samples,
    /// 36 are in `f` itself, 28 in `g` below `f`, and 36 in `main`.
    fn lines_of_f() -> Vec<EntryLine> {
        let symbol =
            |(at, name): (u64, &'static [u8])| Symbol { address: 16 * at, name, is_static: false, is_func: true };
        let symbols = [(1, &b"main"[..]), (2, b"f"), (3, b"g")].map(symbol);
        let functions = &Functions::new(symbols.to_vec(), 64);
        let ids: Vec<FunctionId> = functions.ids().collect();
        let (main, f, g) = (ids[0], ids[1], ids[2]);
        let histograms = [Histogram::new(16..64, Unit::seconds(100), vec![36_u64, 36, 28]).unwrap()];
        let selections = Selections::program(functions);
        let Selections { flat: selected, time, graph: entries, .. } = &selections;
        let arcs = [(8, 32, 3), (20, 32, 5), (36, 48, 7)].map(|(from, to, calls)| gmon::Arc::new(from, to, calls));
        let arcs = Arcs::selected(&arcs, functions, &ArcSelection::default(), &[], true);
        let selection = StackSelection { flat: selected, time, arcs: &selections.arcs };
        let mut measured =
            Measured::new(Contexts::default(), functions, selection, StackSums { stacks: 100, ..StackSums::default() });
        let ticks = |own, below| Ticks { own, below };
        for (id, ticks) in [(main, ticks(36, 40)), (f, ticks(36, 28)), (g, ticks(28, 0))] {
            measured.functions[id.index()] = FunctionTicks { all: ticks, counted: ticks };
        }
        measured.pairs.extend([
            ((None, f), ticks(16, 8)),
            ((Some(main), f), ticks(20, 20)),
            ((Some(f), g), ticks(28, 0)),
        ]);
        let range = |less, more| Range { less, more };
        measured.ranges.functions.insert(f, range(4, 10));
        let pairs = [((None, f), range(4, 12)), ((Some(main), f), range(50, 2)), ((Some(f), g), range(0, 4))];
        measured.ranges.pairs.extend(pairs);
        let flat = Flat::exact(&histograms, &Innermost::default(), functions, selected);
        let choices = GraphSelection { entries, time, excludes_callees: true };
        let graph = Graph::measured(arcs, &flat, functions, choices, &measured).ranked(functions);
        let samples = (&histograms[..], &Innermost::default());
        let errors = Errors::new(samples, functions, selected, &graph, None).with_stacks(Some(&measured.sums));
        lines(&graph, &errors, 4.0, Node::Function(f))
    }

    #[test]
    fn measured_lines_have_ranges_and_errors() {
        let lines = lines_of_f();
        let kinds: Vec<LineKind> = lines.iter().map(|line| line.kind).collect();
        assert!(
            matches!(kinds[..], [LineKind::Caller, LineKind::Caller, LineKind::Primary(_), LineKind::Callee]),
            "{lines:?}"
        );
        // Four samples for each unit of time.
        let times: Vec<_> = lines.iter().map(|line| line.times.unwrap()).collect();
        assert_eq!(times, [(4.0, 2.0), (5.0, 5.0), (9.0, 7.0), (7.0, 0.0)]);
        let ranges: Vec<_> = lines.iter().map(|line| line.range.unwrap()).collect();
        assert_eq!(ranges, [(5.0, 9.0), (0.0, 10.5), (15.0, 18.5), (7.0, 8.0)]);
        assert_eq!(lines[0].endpoint, Endpoint::Outside);
        // The self time of the function has the error of its bin; the time of an arc has the error of a share of the
        // stacks.
        let error = |samples: f64| (samples * (1.0 - samples / 100.0)).sqrt() / 4.0;
        let is_near = |one: f64, other: f64| (one - other).abs() < 1e-12;
        let own = [error(16.0), error(20.0), 6.0 * 0.64_f64.sqrt() / 4.0, error(28.0)];
        assert!(lines.iter().zip(own).all(|(line, own)| is_near(line.error, own)), "{lines:?} {own:?}");
        let below = [error(8.0), error(20.0), error(28.0), 0.0];
        assert!(
            lines.iter().zip(below).all(|(line, below)| is_near(line.children_error, below)),
            "{lines:?} {below:?}"
        );
        let both = [error(24.0), error(40.0), error(64.0), error(28.0)];
        assert!(lines.iter().zip(both).all(|(line, both)| is_near(line.inclusive_error, both)), "{lines:?} {both:?}");
    }
}
