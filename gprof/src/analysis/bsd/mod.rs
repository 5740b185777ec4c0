//! From a profile to what the BSDs' reports show.

mod cut;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsString;

use gmon::Profile;

use crate::analysis::FlatRow;
use crate::analysis::flat::{self, Flat};
use crate::analysis::graph::arcs::{Arc, Arcs};
use crate::analysis::graph::propagate::Choices;
use crate::analysis::graph::{Graph, Node};
use crate::analysis::ordered::Ordered;
use crate::analysis::selection::{ArcSelection, Selection};
use crate::analysis::static_calls;
use crate::cli::bsd::{Arguments, Dialect};
use crate::image::{Image, UNIT};
use crate::symbols::functions::{FunctionId, Functions};

/// Everything that the reports show.
#[derive(Debug)]
pub struct Report<'data> {
    /// Whose layout is wanted.
    pub dialect: Dialect,
    /// Whether to explain the columns.
    pub explained: bool,
    /// Samples for each second.
    pub rate: f64,
    /// Bytes of code that one bin stands for.
    pub granularity: f64,
    /// All samples.
    pub total: f64,
    /// The functions, for their names.
    pub functions: Functions<'data>,
    /// The call graph.
    pub graph: Graph,
    /// What has an entry in the call graph, in their order; `None` when it is not wanted.
    pub entries: Option<Vec<Node>>,
    /// The flat profile, the longest time first; `None` when it is not wanted.
    pub rows: Option<Vec<FlatRow<'data>>>,
    /// What the index lists, in its order.
    pub index: Vec<Node>,
    /// The size of cycles above which they were to be broken.
    pub cycle_limit: Option<usize>,
    /// Calls that were left out for that.
    pub cut: Vec<Arc>,
}

/// Functions of the profiling runtime, whose time does not count.
const RUNTIME: [&str; 6] = [".mcount", "mcount", "_mcount", "__mcount", "_mcleanup", "__mcleanup"];

/// Works everything out that is shown.
pub(crate) fn report<'data>(arguments: &Arguments, profile: &Profile, image: &'data Image<'data>) -> Report<'data> {
    let functions = Functions::with_aliases(image.symbols.clone());
    let runtime = RUNTIME.map(OsString::from);
    let unlisted = arguments.unlisted.iter().chain(&arguments.uncounted).chain(&runtime);
    let listed = arguments.listed.iter().chain(&arguments.counted);
    let entries = Selection::by_names(&functions, &names(listed), &names(unlisted));
    let uncounted = arguments.uncounted.iter().chain(&runtime);
    let time = Selection::by_names(&functions, &names(&arguments.counted), &names(uncounted));
    let everything = Selection::by_names(&functions, &HashSet::new(), &HashSet::new());
    let flat = Flat::new(&profile.histograms, &functions, &everything);
    let possible = if arguments.static_calls {
        static_calls::find(&image.machine_code, &functions, &profile.histograms, false)
    } else {
        Vec::new()
    };
    let kept = kept_arcs(arguments, profile, &functions);
    let arcs = Arcs::chosen(&kept, &functions, &ArcSelection::default(), &possible, false);
    let (arcs, cut) = match arguments.cycle_limit {
        Some(limit) => cut::cut(arcs, &functions, limit),
        None => (arcs, Vec::new()),
    };
    let graph = Graph::new(arcs, &flat, &functions, Choices { graph: &entries, time: &time, thorough: false });
    let unused = arguments.unused;
    let rate = profile.histograms.first().map_or(0.0, |histogram| f64::from(histogram.profrate));
    Report {
        dialect: arguments.dialect,
        explained: !arguments.brief,
        rate: if rate == 0.0 { 1.0 } else { rate },
        granularity: profile.histograms.last().map_or(0.0, flat::bin_scale) * UNIT as f64,
        total: flat.total,
        rows: (!arguments.without_flat).then(|| rows(arguments, &functions, &flat, &graph)),
        entries: (!arguments.without_graph)
            .then(|| graph.ranking.iter().copied().filter(|node| has_entry(*node, &graph, unused)).collect()),
        index: index(&functions, &flat, &graph, unused),
        cycle_limit: arguments.cycle_limit,
        cut,
        graph,
        functions,
    }
}

fn names<'a>(words: impl IntoIterator<Item = &'a OsString>) -> HashSet<&'a [u8]> {
    words.into_iter().map(|word| word.as_encoded_bytes()).collect()
}

/// The calls of a profile without those that `-k` leaves out: from any function named first to any named second.
fn kept_arcs(arguments: &Arguments, profile: &Profile, functions: &Functions<'_>) -> Vec<gmon::Arc> {
    let (from, to) = (names(&arguments.cut_from), names(&arguments.cut_to));
    let is_named = |address, names: &HashSet<&[u8]>| {
        functions.find(address).is_some_and(|function| names.contains(functions[function].name))
    };
    let is_kept = |arc: &&gmon::Arc| from.is_empty() || !(is_named(arc.frompc, &from) && is_named(arc.selfpc, &to));
    profile.arcs.iter().filter(is_kept).copied().collect()
}

fn rows<'data>(arguments: &Arguments, functions: &Functions<'data>, flat: &Flat, graph: &Graph) -> Vec<FlatRow<'data>> {
    let mut rows = FlatRow::all(functions, flat, graph);
    // FreeBSD also shows functions that only called others.
    let counts_children = arguments.dialect == Dialect::FreeBsd;
    rows.retain(|row| arguments.unused || row.calls != 0 || row.time != 0.0 || counts_children && row.children != 0.0);
    rows.sort_by_key(|row| (Reverse((Ordered(row.time), row.calls)), functions[row.function].name));
    rows
}

fn has_entry(node: Node, graph: &Graph, unused: bool) -> bool {
    let (share, calls, own_calls) = match node {
        Node::Function(id) => (graph.share(id), graph.calls(id), graph.self_calls(id)),
        Node::Cycle(at) => (graph.cycle_share(at), graph.cycles()[at].calls, graph.cycles()[at].inner_calls),
    };
    share.shown && (unused || calls != 0 || own_calls != 0 || share.own != 0.0 || share.children != 0.0)
}

fn index(functions: &Functions<'_>, flat: &Flat, graph: &Graph, unused: bool) -> Vec<Node> {
    let is_used = |id: &FunctionId| unused || graph.calls(*id) != 0 || flat.time[id.index()] != 0.0;
    let mut named: Vec<FunctionId> = functions.ids().filter(is_used).collect();
    named.sort_by_key(|id| functions[*id].name);
    let cycles = (0..graph.cycles().len()).map(Node::Cycle);
    named.into_iter().map(Node::Function).chain(cycles).collect()
}
