//! The part of the call graph that a drawing shows.

use super::analysis::Analysis;
use super::estimates::CallEstimate;
use super::graph::Node;
use super::percent::whole;
use crate::model::graph::Graph;
use crate::program::symbols::functions::FunctionId;
use crate::question::options::Limit;

/// A function of a drawing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DrawnFunction {
    /// The function.
    pub id: FunctionId,
    /// The inclusive time as a percentage of the time in the call graph. The inclusive time of a member of a cycle does
    /// not include the other members, unless times are measured.
    pub inclusive: f64,
    /// The self time as a percentage.
    pub own: f64,
    /// All calls of the function, also by itself.
    pub calls: u64,
    /// The estimated calls by other functions, if they were estimated and not counted.
    pub estimate: Option<CallEstimate>,
    /// The index of the function's cycle.
    pub cycle: Option<usize>,
}

/// All calls from one function of a drawing to another, or to itself.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DrawnCall {
    /// The index of the caller in [`DrawnGraph::functions`].
    pub caller: usize,
    /// The index of the called function.
    pub callee: usize,
    /// The time that the calls hand to the caller, as a percentage; `None` where they hand up no time.
    pub inclusive: Option<f64>,
    /// The number of calls.
    pub calls: u64,
    /// The estimated number of calls, if they were estimated and not counted.
    pub estimate: Option<CallEstimate>,
}

/// The functions and calls of a drawing.
#[derive(Debug)]
#[non_exhaustive]
pub struct DrawnGraph {
    /// The functions, the longest time first.
    pub functions: Vec<DrawnFunction>,
    /// The calls between these functions.
    pub calls: Vec<DrawnCall>,
    /// The number of functions that were called or took time but are not in the drawing.
    pub functions_left_out: usize,
    /// The number of pairs of functions whose calls are not in the drawing.
    pub calls_left_out: usize,
}

/// Functions with less than this percentage of the time are left out, unless the user sets a limit.
const LEAST_PERCENT: f64 = 0.5;

/// The calls of a drawing have at least this part of the least time of a function.
const LEAST_OF_CALLS: f64 = 0.2;

impl Analysis<'_> {
    /// Returns the part of the call graph that a drawing shows: functions with at least 0.5 percent of the time and
    /// calls with at least 0.1 percent, or what the limits of the options say.
    #[must_use]
    pub fn drawn_graph(&self) -> DrawnGraph {
        let graph = self.graph();
        let Limit { top, min_percent } = self.options.limit;
        let least = min_percent.unwrap_or(if top.is_some() { 0.0 } else { LEAST_PERCENT });
        // The limits of the report's entries count cycles as well, which have no box.
        let used = self.all_entries().filter(|node| graph.is_used(*node)).filter_map(|node| function(graph, node));
        let mut functions: Vec<DrawnFunction> = used.collect();
        let used = functions.len();
        functions.retain(|function| function.inclusive >= least);
        functions.truncate(top.unwrap_or(usize::MAX));
        let mut place = vec![None; self.functions.len()];
        for (at, function) in functions.iter().enumerate() {
            place[function.id.index()] = Some(at);
        }
        let calls: Vec<DrawnCall> = calls(graph, &place, least * LEAST_OF_CALLS).collect();
        DrawnGraph {
            functions_left_out: used.saturating_sub(functions.len()),
            calls_left_out: graph.arc_ids().len().saturating_sub(calls.len()),
            functions,
            calls,
        }
    }
}

fn function(graph: &Graph, node: Node) -> Option<DrawnFunction> {
    let Node::Function(id) = node else { return None };
    Some(DrawnFunction {
        id,
        inclusive: graph.percent(node),
        own: 100.0 * graph.share(id).own / whole(graph.total()),
        calls: graph.calls(id).saturating_add(graph.self_calls(id)),
        estimate: graph.estimate(id),
        cycle: graph.cycle_of(id),
    })
}

/// Returns the calls between functions with a place. Calls that hand up no time stay: they make a cycle.
fn calls(graph: &Graph, place: &[Option<usize>], least: f64) -> impl Iterator<Item = DrawnCall> {
    let total = whole(graph.total());
    graph.arc_ids().filter_map(move |id| {
        let (arc, handed) = graph.arc(id);
        let inclusive = handed.map(|(own, children)| 100.0 * (own + children) / total);
        let call = DrawnCall {
            caller: place[arc.parent.index()]?,
            callee: place[arc.child.index()]?,
            inclusive,
            calls: arc.count,
            estimate: graph.arc_estimate(arc),
        };
        inclusive.is_none_or(|inclusive| inclusive >= least).then_some(call)
    })
}
