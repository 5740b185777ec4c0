//! The lines of the call graph's entries, worked out when they are asked for: all together take far more memory than the
//! graph.

use super::errors::Errors;
use super::model::Analysis;
use crate::analysis::graph::arcs::ArcId;
use crate::analysis::graph::{Graph, Node};
use crate::symbols::functions::FunctionId;

/// Where a line stands in its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Above the function: its callers.
    Above,
    /// The line of the function or cycle itself.
    Main(Node),
    /// Below: what it calls, or its members.
    Below,
}

/// The calls on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// None.
    Nothing,
    /// From outside, and of itself.
    All {
        /// Calls by others.
        outer: u64,
        /// Calls by itself.
        inner: u64,
    },
    /// Some, of which the profile does not say what they are part of.
    Some(u64),
    /// Part of all.
    Part {
        /// The calls on this line.
        some: u64,
        /// All calls of the called function, or of its cycle.
        all: u64,
    },
}

/// Whose line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Callers that the profile does not know.
    Spontaneous,
    /// What is no function of the program.
    Outside,
    /// A function.
    Function(FunctionId),
    /// A cycle.
    Cycle(usize),
}

/// A line. Times are in the clock's unit, which is seconds as a rule.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Where it stands.
    pub place: Place,
    /// The self time and that of what was called, where the line carries any.
    pub times: Option<(f64, f64)>,
    /// The standard error of a self time that was measured and not handed up; 0 if there is none.
    pub error: f64,
    /// The calls.
    pub calls: Calls,
    /// Whose line it is.
    pub whose: Whose,
}

impl Line {
    fn new(place: Place, times: Option<(f64, f64)>, calls: Calls, whose: Whose) -> Line {
        Line { place, times, error: 0.0, calls, whose }
    }
}

impl Analysis<'_> {
    /// The lines of an entry of the call graph, from the top.
    #[must_use]
    pub fn entry(&self, node: Node) -> Vec<Line> {
        lines(&self.calls.graph, &self.errors, self.clock.rate, node)
    }
}

/// The lines of an entry, from the top, at so many samples for each unit of time.
pub(crate) fn lines(graph: &Graph, errors: &Errors, rate: f64, node: Node) -> Vec<Line> {
    let mut lines = match node {
        Node::Function(id) => function(graph, errors, id),
        Node::Cycle(at) => cycle(graph, errors, at),
    };
    for line in &mut lines {
        line.times = line.times.map(|(own, children)| (own / rate, children / rate));
        // Without an error there is none, whatever the rate.
        line.error = if line.error == 0.0 { 0.0 } else { line.error / rate };
    }
    lines
}

/// The callers of a function, the function, what it calls.
fn function(graph: &Graph, errors: &Errors, id: FunctionId) -> Vec<Line> {
    let mut lines = Vec::new();
    let (outside, handed) = graph.from_outside(id);
    if outside != 0 {
        let calls = Calls::Part { some: outside, all: graph.divided_by(id) };
        lines.push(Line::new(Place::Above, Some(handed.unwrap_or_default()), calls, Whose::Outside));
    } else if graph.parents(id).is_empty() {
        lines.push(Line::new(Place::Above, None, Calls::Nothing, Whose::Spontaneous));
    }
    lines.extend(graph.parents(id).iter().map(|arc| arc_line(graph, *arc, Place::Above)));
    lines.push(own(graph, errors, id, Place::Main(Node::Function(id))));
    lines.extend(graph.children(id).iter().map(|arc| arc_line(graph, *arc, Place::Below)));
    if graph.to_outside(id) != 0 {
        let calls = Calls::Part { some: graph.to_outside(id), all: graph.to_outside(id) };
        lines.push(Line::new(Place::Below, Some((0.0, 0.0)), calls, Whose::Outside));
    }
    lines
}

/// A cycle as a whole, and its members.
fn cycle(graph: &Graph, errors: &Errors, at: usize) -> Vec<Line> {
    let (cycle, share) = (&graph.cycles()[at], graph.cycle_share(at));
    let main = Line {
        place: Place::Main(Node::Cycle(at)),
        times: Some((share.own, share.children)),
        error: share.fraction * errors.of(Node::Cycle(at)),
        calls: Calls::All { outer: cycle.calls, inner: cycle.inner_calls },
        whose: Whose::Cycle(at),
    };
    let members = cycle.members.iter().map(|member| {
        // A member has its calls on its line even when there are none.
        let calls = Calls::All { outer: graph.calls(*member), inner: graph.self_calls(*member) };
        Line { calls, ..own(graph, errors, *member, Place::Below) }
    });
    std::iter::once(main).chain(members).collect()
}

/// The line of a function with its own times and calls.
fn own(graph: &Graph, errors: &Errors, id: FunctionId, place: Place) -> Line {
    let share = graph.share(id);
    let calls = match (graph.calls(id), graph.self_calls(id)) {
        (0, 0) => Calls::Nothing,
        (outer, inner) => Calls::All { outer, inner },
    };
    let error = share.fraction * errors.of(Node::Function(id));
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
