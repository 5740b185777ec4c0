//! The lines of the call graph's entries, before they are text.

use std::io::{self, Write};

use super::names;
use crate::analysis::Analysis;
use crate::analysis::graph::arcs::ArcId;
use crate::analysis::graph::{Graph, Node};
use crate::cli::options::Options;
use crate::report::number::Fixed;
use crate::symbols::functions::FunctionId;

/// Where a line stands in its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Above the function: its callers.
    Above,
    /// The line of the function or cycle itself.
    Main(Node),
    /// Below: what it calls, or its members.
    Below,
}

/// The calls on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    /// None.
    Nothing,
    /// From outside, and of itself.
    All { outer: u64, inner: u64 },
    /// Some, of which the profile does not say what they are part of.
    Some(u64),
    /// Part of all.
    Part { some: u64, all: u64 },
}

/// Whose line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Callers that the profile does not know.
    Spontaneous,
    /// What is no function of the program.
    Outside,
    /// A function.
    Function(FunctionId),
    /// A cycle.
    Cycle(usize),
}

/// A line. Times are in samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) place: Place,
    /// The self time and that of what was called, where the line carries any.
    pub(super) times: Option<(f64, f64)>,
    /// The standard error of a self time that was measured and not handed up; 0 if there is none.
    pub(super) error: f64,
    pub(super) calls: Calls,
    pub(super) whose: Whose,
}

impl Line {
    fn new(place: Place, times: Option<(f64, f64)>, calls: Calls, whose: Whose) -> Line {
        Line { place, times, error: 0.0, calls, whose }
    }
}

/// The lines of an entry, from the top.
pub(super) fn lines(analysis: &Analysis<'_>, node: Node) -> Vec<Line> {
    match node {
        Node::Function(id) => function(analysis, id),
        Node::Cycle(at) => cycle(analysis, at),
    }
}

/// The callers of a function, the function, what it calls.
fn function(analysis: &Analysis<'_>, id: FunctionId) -> Vec<Line> {
    let graph = &analysis.calls.graph;
    let mut lines = Vec::new();
    let (outside, handed) = graph.from_outside(id);
    if outside != 0 {
        let calls = Calls::Part { some: outside, all: graph.divided_by(id) };
        lines.push(Line::new(Place::Above, Some(handed.unwrap_or_default()), calls, Whose::Outside));
    } else if graph.parents(id).is_empty() {
        lines.push(Line::new(Place::Above, None, Calls::Nothing, Whose::Spontaneous));
    }
    lines.extend(graph.parents(id).iter().map(|arc| arc_line(graph, *arc, Place::Above)));
    lines.push(own(analysis, id, Place::Main(Node::Function(id))));
    lines.extend(graph.children(id).iter().map(|arc| arc_line(graph, *arc, Place::Below)));
    if graph.to_outside(id) != 0 {
        let calls = Calls::Part { some: graph.to_outside(id), all: graph.to_outside(id) };
        lines.push(Line::new(Place::Below, Some((0.0, 0.0)), calls, Whose::Outside));
    }
    lines
}

/// A cycle as a whole, and its members.
fn cycle(analysis: &Analysis<'_>, at: usize) -> Vec<Line> {
    let graph = &analysis.calls.graph;
    let (cycle, share) = (&graph.cycles()[at], graph.cycle_share(at));
    let main = Line {
        place: Place::Main(Node::Cycle(at)),
        times: Some((share.own, share.children)),
        error: share.fraction * analysis.errors.of(Node::Cycle(at)),
        calls: Calls::All { outer: cycle.calls, inner: cycle.inner_calls },
        whose: Whose::Cycle(at),
    };
    let members = cycle.members.iter().map(|member| {
        // A member has its calls on its line even when there are none.
        let calls = Calls::All { outer: graph.calls(*member), inner: graph.self_calls(*member) };
        Line { calls, ..own(analysis, *member, Place::Below) }
    });
    std::iter::once(main).chain(members).collect()
}

/// The line of a function with its own times and calls.
fn own(analysis: &Analysis<'_>, id: FunctionId, place: Place) -> Line {
    let graph = &analysis.calls.graph;
    let share = graph.share(id);
    let calls = match (graph.calls(id), graph.self_calls(id)) {
        (0, 0) => Calls::Nothing,
        (outer, inner) => Calls::All { outer, inner },
    };
    let error = share.fraction * analysis.errors.of(Node::Function(id));
    Line { place, times: Some((share.own, share.children)), error, calls, whose: Whose::Function(id) }
}

/// The line of a caller or of a called function.
fn arc_line(graph: &Graph, id: ArcId, place: Place) -> Line {
    let (arc, handed) = graph.arc(id);
    let whose = Whose::Function(if place == Place::Above { arc.parent } else { arc.child });
    let calls = match handed {
        None => Calls::Some(arc.count),
        Some(_) => Calls::Part { some: arc.count, all: graph.divided_by(arc.child) },
    };
    Line::new(place, handed, calls, whose)
}

/// The part of all time that a function or cycle took with what it called, in percent.
pub(super) fn percent(graph: &Graph, node: Node) -> Fixed {
    let share = match node {
        Node::Function(id) => graph.share(id),
        Node::Cycle(at) => graph.cycle_share(at),
    };
    let total = if graph.total() > 0.0 { graph.total() } else { 1.0 };
    Fixed(100.0 * (share.own + share.children) / total)
}

/// Writes whose line it is, with the number of the entry.
pub(super) fn write_name(
    analysis: &Analysis<'_>,
    options: &Options,
    whose: Whose,
    out: &mut dyn Write,
) -> io::Result<()> {
    match whose {
        Whose::Spontaneous => out.write_all(b"<spontaneous>"),
        // Programs that read the report pass over names with a number in parentheses, which have no entry, and know no
        // names without a number.
        Whose::Outside => out.write_all(b"<outside> (0)"),
        Whose::Function(id) => names::write_numbered(analysis, options, id, out),
        Whose::Cycle(at) => {
            let rank = analysis.calls.graph.rank(Node::Cycle(at));
            write!(out, "<cycle {} as a whole> [{rank}]", at + 1)
        }
    }
}
