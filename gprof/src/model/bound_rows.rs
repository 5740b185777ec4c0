//! The rows of the report with the bounds of inclusive times.

use std::cmp::Reverse;

use super::bounds::{Bounds, BoundsDoubt};
use super::contexts::call_sites::TailCalls;
use super::intermediate::Intermediate;
use super::limit;
use super::ordered::Ordered;
use super::selection::{ArcSelection, Selection, Selections};
use crate::model::flat::Flat;
use crate::model::graph::Graph;
use crate::model::graph::arcs::Arcs;
use crate::model::graph::propagate::GraphSelection;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::question::options::Subject;

/// A function with the bounds of its inclusive time. Times are in the unit of the samples, normally seconds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BoundsRow {
    /// The function.
    pub function: FunctionId,
    /// The self time.
    pub self_time: f64,
    /// The inclusive time is at least this.
    pub lower: f64,
    /// The inclusive time if all calls of a function cost the same; `None` for a member of a cycle, because gprof
    /// estimates only the time of the cycle as a whole.
    pub estimate: Option<f64>,
    /// The inclusive time is at most this.
    pub upper: f64,
    /// The number of calls by other functions; `None` if the profile counts no calls of the function.
    pub calls: Option<u64>,
}

/// The bounds of inclusive times. Options that leave out time or arcs do not change them, but may leave out rows.
#[derive(Debug)]
#[non_exhaustive]
pub struct BoundsTable {
    /// The rows that the report shows, the longest upper bound first.
    pub rows: Vec<BoundsRow>,
    /// The number of rows beyond the limit of the options.
    pub left_out: usize,
    /// The time in code that any function may have called unseen. Every upper bound includes this time.
    pub unseen: f64,
    /// Whether the upper bounds are exact sums. If the call graph is too large for that, they hold but are larger than
    /// need be.
    pub is_upper_exact: bool,
    /// The number of functions that may have ended in a tail call. Their upper bounds include the functions to which
    /// they may have jumped.
    pub tail_calls: usize,
    /// The reasons why the bounds may not hold.
    pub doubts: Vec<BoundsDoubt>,
}

impl BoundsTable {
    /// Computes the report.
    pub(super) fn new(intermediate: &Intermediate<'_, '_>, tail_calls: &TailCalls) -> BoundsTable {
        let Intermediate { functions, graph, innermost, rate, profile, options, selections, .. } = intermediate;
        let program = Selections::program(functions).flat;
        let bounds = Bounds::new(profile, innermost, tail_calls, functions, &program);
        let (flat, estimates) = whole(intermediate, &program);
        let chooses_entries = options.choices.iter().any(|choice| choice.subject == Subject::Graph);
        let is_chosen = |id: FunctionId| {
            let has_entry = !chooses_entries || graph.share(id).shown;
            functions.is_whole(id) && program.selects(id) && selections.flat.selects(id) && has_entry
        };
        let row = |id: FunctionId| {
            let (share, at) = (estimates.share(id), id.index());
            BoundsRow {
                function: id,
                self_time: flat.time[at],
                lower: bounds.lower[at],
                estimate: estimates.cycle_of(id).is_none().then_some(share.own + share.children),
                upper: bounds.upper[at],
                calls: bounds.is_counted[at].then(|| estimates.calls(id)),
            }
        };
        let is_used = |row: &BoundsRow| row.calls.is_some() || row.self_time != 0.0 || row.lower != 0.0;
        let rows = functions.ids().filter(|id| is_chosen(*id)).map(row);
        let mut rows: Vec<BoundsRow> = rows.filter(|row| options.unused || is_used(row)).collect();
        sort(&mut rows, functions);
        let (shown, left_out) = limit::rows(rows.iter().map(|row| row.upper), flat.total, options.row_limit());
        rows.truncate(shown);
        rows.iter_mut().for_each(|row| row.divide(*rate));
        let Bounds { unseen, is_upper_exact, tail_calls, mut doubts, .. } = bounds;
        doubts.extend(intermediate.on_demand_counts.map(|_| BoundsDoubt::CallsOnDemand));
        BoundsTable { rows, left_out: left_out.count, unseen: unseen / rate, is_upper_exact, tail_calls, doubts }
    }
}

impl BoundsRow {
    /// Turns samples into times.
    fn divide(&mut self, rate: f64) {
        let estimate = self.estimate.as_mut();
        [&mut self.self_time, &mut self.lower, &mut self.upper]
            .into_iter()
            .chain(estimate)
            .for_each(|time| *time /= rate);
    }
}

/// Returns the self times and the call graph of the whole program, whatever the user selected.
fn whole(intermediate: &Intermediate<'_, '_>, program: &Selection) -> (Flat, Graph) {
    let Intermediate { functions, innermost, profile, .. } = intermediate;
    let flat = Flat::exact(profile.histograms(), innermost, functions, program);
    let arcs = Arcs::selected(profile.arcs(), functions, &ArcSelection::default(), &[], true);
    let all = Selection::all(functions);
    let choices = GraphSelection { entries: &all, time: &all, excludes_callees: true };
    let graph = Graph::unranked(arcs, &flat, functions, choices);
    (flat, graph)
}

/// Sorts by the upper bound, then by the lower bound and by self time, the longest time first, and then by name.
fn sort(rows: &mut [BoundsRow], functions: &Functions<'_>) {
    rows.sort_by_key(|row| {
        let times = [row.upper, row.lower, row.self_time].map(Ordered);
        (Reverse(times), functions[row.function].name)
    });
}
