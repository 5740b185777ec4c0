//! Computes what the reports of the BSDs show.

mod cut;

use std::collections::HashSet;
use std::ffi::OsString;

use gmon::Profile;

use crate::model::entries::{self, EntryLine};
use crate::model::flat::Flat;
use crate::model::graph::arcs::{Arc, Arcs};
use crate::model::graph::propagate::GraphSelection;
use crate::model::graph::{Graph, Node};
use crate::model::selection::{ArcSelection, Selection};
use crate::model::static_calls;
use crate::model::{CallTimeUnit, Clock, Errors, FlatProfile, FlatRow, RowSamples};
use crate::program::image::Image;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::question::bsd::Arguments;
use crate::question::rules::Dialect;
use crate::question::rules::Rules;

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
pub(crate) fn report<'data>(arguments: &Arguments, profile: &Profile, image: &'data Image<'data>) -> Report<'data> {
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
    arguments: &Arguments,
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
        Some(limit) => cut::cut(arcs, functions, limit),
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
fn kept_arcs(arguments: &Arguments, profile: &Profile, functions: &Functions<'_>) -> Vec<gmon::Arc> {
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
