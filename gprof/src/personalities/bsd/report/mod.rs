//! Computes what the reports of the BSDs show.
//!
//! [`cut`] breaks large cycles: it leaves out calls until no cycle has more functions than wanted. The most frequent
//! calls are put back first, and a call that would close too large a cycle stays out. So the calls that stay out are
//! rare calls. One walk through the graph tells whether the calls above some frequency make a large cycle. The answer
//! changes only once along the list of calls, so a binary search finds the first call to leave out. The work is
//! bounded: once the bound is reached, all remaining calls of large cycles stay out.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsString;

use gmon::Profile;

use crate::model::entries::{self, EntryLine};
use crate::model::flat::Flat;
use crate::model::graph::arcs::{Arc, Arcs};
use crate::model::graph::cycles::Cycles;
use crate::model::graph::propagate::GraphSelection;
use crate::model::graph::{Graph, Node};
use crate::model::selection::{ArcSelection, Selection};
use crate::model::{CallTimeUnit, Clock, Errors, FlatProfile, FlatRow, RowSamples, static_calls};
use crate::program::image::Image;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::question::options::BsdOptions;
use crate::question::rules::{Dialect, Rules};

/// The bound on the number of arcs and functions that the search visits.
const WORK: usize = 1 << 25;

/// Leaves out arcs until no cycle has more than `limit` members. Returns the other arcs, and the arcs that are left
/// out.
pub(super) fn cut(arcs: Arcs, functions: &Functions<'_>, limit: usize) -> (Arcs, Vec<Arc>) {
    let cycles = Cycles::new(&arcs, functions);
    let is_large = |arc: &Arc| {
        let cycle = cycles.of[arc.parent.index()].filter(|_| cycles.same(arc.parent, arc.child));
        arc.parent != arc.child && cycle.is_some_and(|cycle| cycles.all[cycle as usize].members.len() > limit)
    };
    let mut inner: Vec<Arc> = arcs.all.iter().filter(|arc| is_large(arc)).copied().collect();
    if inner.is_empty() {
        return (arcs, Vec::new());
    }
    inner.sort_by_key(|arc| (Reverse(arc.count), arc.parent, arc.child));
    let out = left_out(inner, functions, limit, WORK);
    let mut sorted: Vec<_> = out.iter().map(|arc| (arc.parent, arc.child)).collect();
    sorted.sort_unstable();
    let kept = arcs.all.into_iter().filter(|arc| sorted.binary_search(&(arc.parent, arc.child)).is_err()).collect();
    (Arcs::from_merged(kept, functions.len()), out)
}

/// Returns the arcs that must stay out, out of arcs that are sorted by calls.
fn left_out(mut arcs: Vec<Arc>, functions: &Functions<'_>, limit: usize, mut work: usize) -> Vec<Arc> {
    let mut out = Vec::new();
    // The arcs before this index are known to fit together.
    let mut good = 0;
    while good < arcs.len() {
        // The first `good` arcs fit, and the first `bad` arcs do not. Unless the loop has found otherwise, all arcs may
        // fit.
        let mut bad = arcs.len() + 1;
        while good + 1 < bad {
            // All arcs together come first, because they decide most often.
            let middle = if bad > arcs.len() { arcs.len() } else { good.midpoint(bad) };
            work = work.saturating_sub(middle + functions.len());
            let subset = Arcs::from_merged(arcs[..middle].to_vec(), functions.len());
            if Cycles::new(&subset, functions).all.iter().all(|cycle| cycle.members.len() <= limit) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        if work == 0 {
            out.extend(arcs.drain(good..));
        } else if good < arcs.len() {
            out.push(arcs.remove(good));
        }
    }
    out
}

/// Everything that the reports of the BSDs show.
#[derive(Debug)]
pub struct Report<'data> {
    /// The BSD whose layout is wanted.
    pub dialect: Dialect,
    /// Whether the reports explain the columns.
    pub explained: bool,
    /// The unit of the samples.
    pub clock: Clock,
    /// The functions of the program.
    pub functions: Functions<'data>,
    /// The call graph.
    pub graph: Graph,
    /// The functions and cycles that have entries in the call graph, in their order; `None` if the user does not want
    /// the call graph.
    pub entries: Option<Vec<Node>>,
    /// The flat profile.
    pub flat: FlatProfile<'data>,
    /// Whether the user wants the flat profile.
    pub is_flat_wanted: bool,
    /// The functions and cycles in the index, in their order.
    pub index: Vec<Node>,
    /// The largest size of a cycle that is not broken (`-C`).
    pub cycle_limit: Option<usize>,
    /// The calls that were left out to break cycles.
    pub cut: Vec<Arc>,
}

impl<'data> Report<'data> {
    /// Returns the rows of the flat profile.
    pub fn flat_rows(&self) -> impl Iterator<Item = (&RowSamples<'data>, FlatRow<'data>)> {
        self.flat.numbered(self.clock.rate)
    }

    /// Returns the lines of an entry of the call graph, from the top, without the calls that were left out.
    #[must_use]
    pub fn entry(&self, node: Node) -> Vec<EntryLine> {
        entries::lines(&self.graph, &Errors::default(), self.clock.rate, node)
    }
}

/// The functions of the profiling runtime, whose time does not count.
const RUNTIME: [&str; 6] = [".mcount", "mcount", "_mcount", "__mcount", "_mcleanup", "__mcleanup"];

/// Computes everything that the reports show.
pub(crate) fn report<'data>(arguments: &BsdOptions, profile: &Profile, image: &'data Image<'data>) -> Report<'data> {
    let rules = Rules::bsd(arguments.dialect);
    let functions = Functions::with_aliases(image.symbols.clone());
    let everything = Selection::by_names(&functions, &HashSet::new(), &HashSet::new());
    let flat = Flat::new(profile.histograms(), &functions, &everything);
    let (graph, cut) = graph(arguments, profile, image, &functions, &flat);
    let unused = arguments.unused;
    let clock = Clock::new(profile, rules.granularity);
    let clock = Clock { rate: if clock.rate == 0.0 { 1.0 } else { clock.rate }, ..clock };
    let has_entry = |node: &Node| graph.node_share(*node).shown && (unused || graph.is_used(*node));
    Report {
        dialect: arguments.dialect,
        explained: !arguments.brief,
        flat: flat_table(rules, unused, &functions, &flat, &graph, clock.rate),
        is_flat_wanted: !arguments.without_flat,
        entries: (!arguments.without_graph).then(|| graph.ranking.iter().copied().filter(has_entry).collect()),
        index: index(&functions, &flat, &graph, unused),
        cycle_limit: arguments.cycle_limit,
        cut,
        clock,
        graph,
        functions,
    }
}

/// Builds the call graph. Returns the calls that were left out to break cycles as well.
fn graph(
    arguments: &BsdOptions,
    profile: &Profile,
    image: &Image<'_>,
    functions: &Functions<'_>,
    flat: &Flat,
) -> (Graph, Vec<Arc>) {
    let rules = Rules::bsd(arguments.dialect);
    let static_calls = if arguments.static_calls {
        static_calls::find(&image.machine_code, functions, profile.histograms(), rules.finds_all_static_calls)
    } else {
        Vec::new()
    };
    let kept = kept_arcs(arguments, profile, functions);
    let arcs = Arcs::selected(&kept, functions, &ArcSelection::default(), &static_calls, rules.shows_outside);
    let (arcs, cut) = match arguments.cycle_limit {
        Some(limit) => cut(arcs, functions, limit),
        None => (arcs, Vec::new()),
    };
    let runtime = RUNTIME.map(OsString::from);
    let unlisted = arguments.unlisted.iter().chain(&arguments.uncounted).chain(&runtime);
    let listed = arguments.listed.iter().chain(&arguments.counted);
    let entries = Selection::by_names(functions, &names(listed), &names(unlisted));
    let uncounted = arguments.uncounted.iter().chain(&runtime);
    let time = Selection::by_names(functions, &names(&arguments.counted), &names(uncounted));
    let choices = GraphSelection { entries: &entries, time: &time, excludes_callees: rules.leaves_out_callees };
    (Graph::new(arcs, flat, functions, choices), cut)
}

fn names<'a>(words: impl IntoIterator<Item = &'a OsString>) -> HashSet<&'a [u8]> {
    words.into_iter().map(|word| word.as_encoded_bytes()).collect()
}

/// Returns the calls of a profile without the calls that `-k` leaves out: calls from a function in `cut_from` to a
/// function in `cut_to`.
fn kept_arcs(arguments: &BsdOptions, profile: &Profile, functions: &Functions<'_>) -> Vec<gmon::Arc> {
    let (from, to) = (names(&arguments.cut_from), names(&arguments.cut_to));
    let is_named = |address, names: &HashSet<&[u8]>| {
        functions.find(address).is_some_and(|function| names.contains(functions[function].name))
    };
    let is_kept = |arc: &&gmon::Arc| from.is_empty() || !(is_named(arc.frompc, &from) && is_named(arc.selfpc, &to));
    profile.arcs().iter().filter(is_kept).copied().collect()
}

fn flat_table<'data>(
    rules: Rules,
    unused: bool,
    functions: &Functions<'data>,
    flat: &Flat,
    graph: &Graph,
    rate: f64,
) -> FlatProfile<'data> {
    let rows = RowSamples::all(functions, flat, graph);
    let unit = CallTimeUnit::new(rules.call_unit, &rows, rate);
    let is_listed =
        |row: &RowSamples<'_>| unused || row.is_used() || rules.lists_callers_without_time && row.children != 0.0;
    FlatProfile::new(rows, is_listed, functions, unit, flat.total)
}

fn index(functions: &Functions<'_>, flat: &Flat, graph: &Graph, unused: bool) -> Vec<Node> {
    let is_used = |id: &FunctionId| unused || graph.calls(*id) != 0 || flat.time[id.index()] != 0.0;
    let mut named: Vec<FunctionId> = functions.ids().filter(is_used).collect();
    named.sort_by_key(|id| functions[*id].name);
    let cycles = (0..graph.cycles().len()).map(Node::Cycle);
    named.into_iter().map(Node::Function).chain(cycles).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;

    /// Returns functions at 0x10, 0x20, …, and the given calls between the functions.
    fn graph(functions: u64, calls: &[(u64, u64, u64)]) -> (Arcs, Functions<'static>) {
        let symbol = |n: u64| Symbol { address: 16 * (n + 1), name: b"f", is_static: false, is_func: true };
        let functions = Functions::with_aliases((0..=functions).map(symbol).collect());
        let arc = |(from, to, count): &(u64, u64, u64)| gmon::Arc::new(16 * (from + 1), 16 * (to + 1), *count);
        let arcs: Vec<gmon::Arc> = calls.iter().map(arc).collect();
        (Arcs::new(&arcs, &functions), functions)
    }

    fn pairs(arcs: &[Arc]) -> Vec<(usize, usize)> {
        arcs.iter().map(|arc| (arc.parent.index(), arc.child.index())).collect()
    }

    #[test]
    fn the_rarest_call_of_a_circle_is_left_out() {
        let (arcs, functions) = graph(4, &[(0, 1, 9), (1, 2, 5), (2, 0, 7), (2, 2, 1), (0, 3, 1)]);
        let (kept, out) = cut(arcs, &functions, 1);
        assert_eq!(pairs(&out), [(1, 2)]);
        assert_eq!(pairs(&kept.all), [(0, 1), (2, 0), (2, 2), (0, 3)]);
        assert_eq!(kept.calls, [7, 9, 0, 1, 0]);
    }

    #[test]
    fn small_cycles_stay() {
        let calls = [(0, 1, 9), (1, 0, 9), (1, 2, 5), (2, 0, 3)];
        let (arcs, functions) = graph(3, &calls);
        assert_eq!(pairs(&cut(arcs, &functions, 3).1), []);
        let (arcs, functions) = graph(3, &calls);
        assert_eq!(pairs(&cut(arcs, &functions, 2).1), [(2, 0)]);
        let (arcs, functions) = graph(3, &calls);
        assert_eq!(pairs(&cut(arcs, &functions, 1).1), [(1, 0), (2, 0)]);
    }

    #[test]
    fn the_work_is_bounded() {
        let all: Vec<(u64, u64, u64)> =
            (0..40).flat_map(|from| (0..40).map(move |to| (from, to, from * 40 + to + 1))).collect();
        for work in [0, 1, 10_000, WORK] {
            let (arcs, functions) = graph(40, &all);
            let mut inner: Vec<Arc> = arcs.all.iter().filter(|arc| arc.parent != arc.child).copied().collect();
            inner.sort_by_key(|arc| (Reverse(arc.count), arc.parent, arc.child));
            let out = left_out(inner.clone(), &functions, 4, work);
            inner.retain(|arc| !out.contains(arc));
            let cycles = Cycles::new(&Arcs::from_merged(inner, functions.len()), &functions);
            assert!(cycles.all.iter().all(|cycle| cycle.members.len() <= 4), "{work}");
            assert!(work < 10_000 || !cycles.all.is_empty());
        }
    }

    #[test]
    fn calls_that_are_rarer_than_a_call_that_is_left_out_may_stay() {
        // 1 calls 0 less often than 0 calls 1. The call of 1 by 2 closes no circle then.
        let calls = [(0, 1, 9), (0, 2, 7), (1, 0, 5), (2, 1, 1)];
        let (arcs, functions) = graph(3, &calls);
        let mut sorted = arcs.all.clone();
        sorted.sort_by_key(|arc| Reverse(arc.count));
        assert_eq!(pairs(&cut(arcs, &functions, 1).1), [(1, 0)]);
        // The search visits 4, 2, 3, and 3 arcs, each time with 4 functions. From the bound on, no call is tried.
        assert_eq!(pairs(&left_out(sorted.clone(), &functions, 1, 29)), [(1, 0)]);
        assert_eq!(pairs(&left_out(sorted, &functions, 1, 21)), [(1, 0), (2, 1)]);
    }

    #[test]
    fn without_large_cycles_nothing_changes() {
        let (mut arcs, functions) = graph(3, &[(0, 1, 9), (1, 2, 5), (2, 0, 3), (1, 1, 4)]);
        arcs.from_outside[0] = 2;
        let (kept, out) = cut(arcs, &functions, 3);
        assert_eq!((kept.sums.all, kept.from_outside[0], pairs(&out)), (21, 2, vec![]));
    }
}
