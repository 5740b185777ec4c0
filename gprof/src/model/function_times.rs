//! The functions and the arcs of the call graph, each once, for files of other programs.

use super::analysis::Analysis;
use super::estimates::CallEstimate;
use super::graph::Node;
use super::graph::arcs::Arc;
use super::graph::propagate::Handed;
use crate::program::symbols::functions::FunctionId;

/// The times and calls of a function. Times are in samples.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FunctionTimes {
    /// The function.
    pub id: FunctionId,
    /// The self time.
    pub own: f64,
    /// The standard error of the self time; 0 when the options do not ask for errors.
    pub own_error: f64,
    /// The time of the function and of the functions that it called. The estimate of a member of a cycle does not
    /// include the other members.
    pub inclusive: f64,
    /// The standard error of the inclusive time; 0 when the options do not ask for errors, and for estimates.
    pub inclusive_error: f64,
    /// The least and the longest inclusive time, if tail calls leave a doubt about the measured time.
    pub range: Option<(f64, f64)>,
    /// The calls by other functions.
    pub calls: u64,
    /// The calls by the function itself.
    pub self_calls: u64,
    /// The estimated calls by other functions, if they were estimated and not counted.
    pub estimate: Option<CallEstimate>,
    /// The index of the function's cycle.
    pub cycle: Option<usize>,
}

/// The calls of one function by another. Times are in samples.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ArcTimes {
    /// The caller; `None` for code outside of all functions.
    pub caller: Option<FunctionId>,
    /// The called function; `None` for code outside of all functions.
    pub callee: Option<FunctionId>,
    /// The self time of the called function, and its inclusive time, that the calls hand to the caller; `None` where
    /// the calls hand up no time.
    pub times: Option<(f64, f64)>,
    /// The standard error of the inclusive time; 0 when the options do not ask for errors, and for estimates.
    pub inclusive_error: f64,
    /// The least and the longest inclusive time, if tail calls leave a doubt about the measured time.
    pub range: Option<(f64, f64)>,
    /// The number of calls.
    pub calls: u64,
    /// The estimated number of calls, if they were estimated and not counted.
    pub estimate: Option<CallEstimate>,
}

impl Analysis<'_> {
    /// Returns all functions that were called or took time and that the options do not exclude, the longest inclusive
    /// time first.
    pub fn function_times(&self) -> impl Iterator<Item = FunctionTimes> {
        let graph = self.graph();
        let functions = self.all_entries().filter(|node| self.options.unused || graph.is_used(*node));
        functions.filter_map(move |node| match node {
            Node::Function(id) => Some(self.times_of(id)),
            Node::Cycle(_) => None,
        })
    }

    /// Returns the times and calls of a function, also of one that the options exclude.
    pub(crate) fn times_of(&self, id: FunctionId) -> FunctionTimes {
        let graph = self.graph();
        let share = graph.share(id);
        let inclusive = share.own + share.children;
        FunctionTimes {
            id,
            own: share.own,
            own_error: self.errors().of_part(share.fraction * self.errors().of(Node::Function(id)), share.own),
            inclusive,
            inclusive_error: self.errors().of_measured(inclusive),
            range: graph.inclusive_range(id),
            calls: graph.calls(id),
            self_calls: graph.self_calls(id),
            estimate: graph.estimate(id),
            cycle: graph.cycle_of(id),
        }
    }

    /// Returns all arcs from or to the functions of [`Analysis::function_times`]: those of each caller together, the
    /// callers in the order of their times. Arcs from callers that the options hide follow, then arcs from and to code
    /// outside of all functions. So the calls of a function are the sum of the calls of the arcs that lead to the
    /// function, whatever the options hide.
    pub fn arc_times(&self) -> impl Iterator<Item = ArcTimes> {
        let graph = self.graph();
        let shown: Vec<FunctionId> = self.function_times().map(|function| function.id).collect();
        let mut is_shown = vec![false; self.functions.len()];
        shown.iter().for_each(|id| is_shown[id.index()] = true);
        let mut arcs: Vec<ArcTimes> = Vec::new();
        let all = |(arc, handed): (&Arc, Option<Handed>)| {
            self.arc_times_of(Some(arc.parent), Some(arc.child), handed, arc.count)
        };
        arcs.extend(shown.iter().flat_map(|id| graph.children(*id)).map(|id| all(graph.arc(*id))));
        let hidden = graph.ranking.iter().filter_map(|node| match node {
            Node::Function(id) if !is_shown[id.index()] => Some(*id),
            _ => None,
        });
        let from_hidden = hidden.flat_map(|id| graph.children(id)).map(|id| graph.arc(*id));
        arcs.extend(from_hidden.filter(|(arc, _)| is_shown[arc.child.index()]).map(all));
        arcs.extend(shown.iter().filter_map(|id| {
            let (calls, handed) = graph.from_outside(*id);
            let is_seen = || graph.estimates().of_pair(None, *id).is_some_and(|estimate| estimate.seen > 0);
            (calls > 0 || is_seen()).then(|| self.arc_times_of(None, Some(*id), handed, calls))
        }));
        arcs.extend(shown.iter().filter_map(|id| {
            let calls = graph.to_outside(*id);
            (calls > 0).then(|| self.arc_times_of(Some(*id), None, None, calls))
        }));
        arcs.into_iter()
    }

    fn arc_times_of(
        &self,
        caller: Option<FunctionId>,
        callee: Option<FunctionId>,
        handed: Option<(f64, f64)>,
        calls: u64,
    ) -> ArcTimes {
        let times = handed.map(|(own, children)| (own, own + children));
        let inclusive_error = times.map_or(0.0, |(_, inclusive)| self.errors().of_measured(inclusive));
        let graph = self.graph();
        let range = times.zip(callee).and_then(|((_, time), callee)| graph.arc_range(caller, callee, time));
        let estimate = callee.and_then(|callee| graph.estimates().of_pair(caller, callee)).filter(|_| calls == 0);
        ArcTimes { caller, callee, times, inclusive_error, range, calls, estimate }
    }
}
