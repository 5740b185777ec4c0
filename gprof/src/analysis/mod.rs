//! Everything that a report may show, worked out and frozen.

mod blocks;
mod chains;
mod counts;
mod errors;
mod order;
mod stats;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use gmon::{Dimension, Profile};

pub use blocks::Blocks;
pub use counts::Count;
pub use errors::Errors;
pub use stats::Stats;

use crate::file_map::ObjectFiles;
use crate::flat::{self, Flat};
use crate::functions::{FunctionId, Functions};
use crate::graph::arcs::Arcs;
use crate::graph::propagate::Choices;
use crate::graph::{Graph, Node};
use crate::images::Images;
use crate::inlines::{Chains, Inlined, InlinedTime};
use crate::number::Ordered;
use crate::options::{Options, Wanted};
use crate::selection::Selections;
use crate::sources::Sources;
use crate::static_calls;

/// What the numbers of a report measure.
#[derive(Debug)]
pub struct Clock {
    /// Samples for each unit of the dimension: each second, as a rule. 0 when the profile has no samples at all.
    pub rate: f64,
    /// What samples measure, normally seconds.
    pub dimension: Dimension,
    /// The dimension's abbreviation, normally `s`.
    pub abbrev: u8,
    /// Bytes of code that one bin stands for.
    pub granularity: f64,
}

/// A row of the flat profile.
#[derive(Debug)]
pub struct FlatRow<'data> {
    /// The function.
    pub function: FunctionId,
    /// The name of a function that was inlined into it, if the row is about that.
    pub inlined: Option<&'data [u8]>,
    /// Its own time, in samples.
    pub time: f64,
    /// The standard error of that, in samples. 0 when nobody asked for it.
    pub error: f64,
    /// How often others called it.
    pub calls: u64,
    /// The time of what it called, in samples.
    pub children: f64,
}

impl<'data> FlatRow<'data> {
    /// The rows of all functions, in the order of their addresses.
    pub(crate) fn all(functions: &Functions<'data>, flat: &Flat, graph: &Graph) -> Vec<FlatRow<'data>> {
        let row = |function: FunctionId| FlatRow {
            function,
            inlined: None,
            time: flat.time[function.index()],
            error: 0.0,
            calls: graph.calls(function),
            children: graph.share(function).all_children,
        };
        functions.ids().map(row).collect()
    }

    /// Gives inlined functions rows of their own; what is left of the function around them is its own code.
    fn split(rows: &mut Vec<FlatRow<'data>>, inlined: Vec<InlinedTime<'data>>, errors: &Errors) {
        for InlinedTime { place, inside: function, name, time } in inlined {
            // Rows are in the order of functions still.
            let around = &mut rows[function.index()];
            around.time -= time;
            around.children += time;
            let error = errors.of_inlined(place);
            rows.push(FlatRow { function, inlined: Some(name), time, error, calls: 0, children: 0.0 });
        }
    }

    /// The name by which rows are ordered.
    fn name(&self, functions: &Functions<'data>) -> &'data [u8] {
        self.inlined.unwrap_or(functions[self.function].name)
    }
}

/// The unit in which times for each call are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its prefix.
    pub prefix: char,
    /// By how much a number in the clock's own unit is multiplied.
    pub factor: f64,
}

/// The flat profile.
#[derive(Debug)]
pub struct FlatTable<'data> {
    /// The rows to show, the longest time first.
    pub rows: Vec<FlatRow<'data>>,
    /// The unit of times for each call.
    pub unit: Unit,
    /// All samples.
    pub total: f64,
}

/// An entry of the index of functions.
#[derive(Debug)]
pub struct IndexEntry<'data> {
    /// The function or cycle.
    pub node: Node,
    /// For a function that only its source file sees, the name of that file, if known.
    pub file: Option<Cow<'data, [u8]>>,
}

/// The call graph with the choice of what to show of it.
#[derive(Debug)]
pub struct CallGraph<'data> {
    /// The graph.
    pub graph: Graph,
    /// The functions and cycles with entries of their own, in the order of their entries.
    pub entries: Vec<Node>,
    /// The index, by name.
    pub index: Vec<IndexEntry<'data>>,
    /// Whether the profiles are of a kind that has calls: without, numbers of entries lead nowhere.
    pub is_known: bool,
}

/// The results. Renderers see this and nothing else of the program or the profile.
#[derive(Debug)]
pub struct Analysis<'data> {
    /// The functions, for their names.
    pub functions: Functions<'data>,
    /// What the numbers measure.
    pub clock: Clock,
    /// The flat profile.
    pub flat: FlatTable<'data>,
    /// The call graph.
    pub calls: CallGraph<'data>,
    /// Where functions stand in source files, if any report shows it.
    pub sources: Sources,
    /// The choices of the user.
    pub selections: Selections,
    /// How often basic blocks ran, by line.
    pub blocks: Blocks,
    /// Where lines were inlined, by their addresses; empty unless that is to be told.
    pub chains: Chains<'data>,
    /// The list of counts.
    pub counts: Vec<Count>,
    /// The functions in an order for linkers.
    pub order: Vec<FunctionId>,
    /// The object files in an order for linkers.
    pub file_order: Vec<&'data [u8]>,
    /// How much of the profiles all this accounts for.
    pub stats: Stats,
    /// How far self times may be off by chance, if any report shows it.
    pub errors: Errors,
}

/// What an analysis is made of.
pub struct Input<'a, 'data> {
    /// The sum of all profiles.
    pub profile: &'a Profile,
    /// The images, for their machine code and debug information.
    pub images: &'data Images<'data>,
    /// The object files, if functions are put together to files.
    pub object_files: Option<ObjectFiles<'data>>,
    /// Where functions stand in source files; empty if neither a choice nor a report needs it.
    pub sources: Sources,
    /// The choices of the user.
    pub selections: Selections,
    /// What was inlined, if functions of that are to be told of.
    pub inlined: Option<Inlined<'data>>,
    /// Where lines were inlined, if that is to be told.
    pub chains: Chains<'data>,
    /// What the user asked for.
    pub options: &'a Options,
    /// The reports to write.
    pub wanted: Wanted,
}

/// What is known when the call graph is complete.
struct Analysed<'a, 'data> {
    functions: &'a Functions<'data>,
    flat: &'a Flat,
    graph: &'a Graph,
    sources: &'a Sources,
    selections: &'a Selections,
    blocks: &'a Blocks,
    errors: &'a Errors,
    options: &'a Options,
}

impl<'data> Analysis<'data> {
    /// Works everything out.
    #[must_use]
    pub fn new(functions: Functions<'data>, input: Input<'_, 'data>) -> Analysis<'data> {
        let Input { profile, images, object_files, sources, selections, inlined, chains, options, wanted } = input;
        let assign = if options.is_gnu() { Flat::new } else { Flat::exact };
        let flat = assign(&profile.histograms, &functions, &selections.flat);
        let possible = if options.static_calls {
            let find = |code| static_calls::find(&code, &functions, &profile.histograms, options.is_gnu());
            images.code().flat_map(find).collect()
        } else {
            Vec::new()
        };
        let arcs = Arcs::chosen(&profile.arcs, &functions, &selections.arcs, &possible, !options.is_gnu());
        let choices = Choices { graph: &selections.graph, time: &selections.time, thorough: !options.is_gnu() };
        let graph = Graph::new(arcs, &flat, &functions, choices);
        let most_blocks = if options.is_gnu() { 10 } else { usize::MAX };
        let blocks: &[gmon::Block] = if options.by_line { &profile.blocks } else { &[] };
        let blocks = Blocks::new(blocks, &functions, most_blocks);
        let errors = if options.errors {
            Errors::new(&profile.histograms, &functions, &selections.flat, &graph, inlined.as_ref())
        } else {
            Errors::default()
        };
        let analysed = Analysed {
            functions: &functions,
            flat: &flat,
            graph: &graph,
            sources: &sources,
            selections: &selections,
            blocks: &blocks,
            errors: &errors,
            options,
        };
        let entries: Vec<Node> = graph.ranking.iter().copied().filter(|node| has_entry(*node, &analysed)).collect();
        let index = if wanted.graph { index(&analysed, images) } else { Vec::new() };
        let stats = Stats::new(profile, &functions, &flat);
        let clock = clock(profile, options.is_gnu());
        let inlined = inlined.map(|inlined| inlined.times(&profile.histograms)).unwrap_or_default();
        let flat_table = flat_table(&analysed, inlined, clock.rate);
        let counts = if wanted.counts { counts::counts(&analysed) } else { Vec::new() };
        let shown = if wanted.graph { entries.as_slice() } else { &[] };
        let named = selections.named_arcs.as_slice();
        let faults = options.is_gnu().then_some(order::Faults { entries: shown, named });
        let order = if wanted.function_order { order::order(functions.ids(), &graph, faults) } else { Vec::new() };
        let file_order = object_files.map_or_else(Vec::new, |files| order::files(&functions, &graph, &files, faults));
        Analysis {
            flat: flat_table,
            clock,
            calls: CallGraph { graph, entries, index, is_known: wanted.calls },
            blocks,
            chains,
            counts,
            order,
            file_order,
            stats,
            errors,
            functions,
            sources,
            selections,
        }
    }
}

fn clock(profile: &Profile, is_gnu: bool) -> Clock {
    let first = profile.histograms.first();
    let scale = profile.histograms.last().map_or(0.0, flat::bin_scale);
    Clock {
        rate: first.map_or(0.0, |histogram| f64::from(histogram.profrate)),
        dimension: first.map_or(Dimension::SECONDS, |histogram| histogram.dimension),
        abbrev: first.map_or(b's', |histogram| histogram.abbrev),
        granularity: if is_gnu {
            (scale as u64).saturating_mul(flat::UNIT) as f64
        } else {
            profile.histograms.last().map_or(0.0, flat::bin_size)
        },
    }
}

fn flat_table<'data>(analysed: &Analysed<'_, 'data>, inlined: Vec<InlinedTime<'data>>, rate: f64) -> FlatTable<'data> {
    let Analysed { functions, flat, graph, selections, errors, options, .. } = analysed;
    let mut rows = FlatRow::all(functions, flat, graph);
    for row in &mut rows {
        row.error = errors.of_row(row.function);
    }
    FlatRow::split(&mut rows, inlined, errors);
    let longest = rows
        .iter()
        .filter(|row| row.calls != 0)
        .map(|row| (row.time + row.children) / row.calls as f64)
        .fold(0.0, f64::max);
    rows.retain(|row| (options.unused || row.calls != 0 || row.time != 0.0) && selections.flat.chooses(row.function));
    rows.sort_by_key(|row| (Reverse((Ordered(row.time), row.calls)), row.name(functions)));
    let unit = if options.traditional { MILLISECONDS } else { unit(longest / rate) };
    FlatTable { rows, unit, total: flat.total }
}

/// The unit of the BSDs.
const MILLISECONDS: Unit = Unit { prefix: 'm', factor: 1e3 };

/// The unit for times of calls of which the longest took `longest`: the one that shows it with one to three digits
/// before the point.
fn unit(longest: f64) -> Unit {
    const PREFIXES: [(char, f64); 11] = [
        ('T', 1e-12),
        ('G', 1e-9),
        ('M', 1e-6),
        ('K', 1e-3),
        (' ', 1.0),
        ('m', 1e3),
        ('u', 1e6),
        ('n', 1e9),
        ('p', 1e12),
        ('f', 1e15),
        ('a', 1e18),
    ];
    let fits = |(_, factor): &&(char, f64)| (1.0..1000.0).contains(&(factor * longest));
    // No time at all is shown in the first unit, and what fits no unit in the last.
    let fallback = if longest > 0.0 { PREFIXES[10] } else { PREFIXES[0] };
    let (prefix, factor) = PREFIXES.iter().find(fits).copied().unwrap_or(fallback);
    Unit { prefix, factor }
}

fn has_entry(node: Node, analysed: &Analysed<'_, '_>) -> bool {
    let Analysed { functions, graph, options, .. } = analysed;
    let unused = options.unused;
    let (share, calls, own_calls) = match node {
        // Nobody calls a line: it is among the callers only.
        Node::Function(id) if options.by_line && !functions.is_marked(id) => return false,
        // GNU takes cycles for lines.
        Node::Cycle(_) if options.by_line && options.is_gnu() => return false,
        Node::Function(id) => (graph.share(id), graph.calls(id), graph.self_calls(id)),
        Node::Cycle(at) => (graph.cycle_share(at), graph.cycles()[at].calls, graph.cycles()[at].inner_calls),
    };
    share.shown && (unused || calls != 0 || own_calls != 0 || share.own != 0.0 || share.children != 0.0)
}

fn index<'data>(analysed: &Analysed<'_, 'data>, images: &'data Images<'data>) -> Vec<IndexEntry<'data>> {
    let Analysed { functions, flat, graph, sources, options, .. } = analysed;
    let is_named = |id: &FunctionId| options.unused || graph.calls(*id) != 0 || flat.time[id.index()] != 0.0;
    let mut named: Vec<FunctionId> = functions.ids().filter(is_named).collect();
    named.sort_by_key(|id| functions[*id].name);
    // By line, all names tell the file.
    let needs_file = |id: &FunctionId| functions[*id].is_static && !options.by_line;
    let statics: Vec<FunctionId> = named.iter().copied().filter(needs_file).collect();
    // Where all places are known anyway, they are not looked up again.
    let found: HashMap<FunctionId, Cow<'data, [u8]>> = if options.symbols.is_some() {
        // Symbols from elsewhere come without source files.
        HashMap::new()
    } else if sources.files.is_empty() {
        images.base_names(functions, statics)
    } else {
        let name = |id| Some((id, Cow::Owned(sources.name(sources.place(id)?.file, options.paths).to_vec())));
        statics.into_iter().filter_map(name).collect()
    };
    let of_function = |id: FunctionId| IndexEntry { node: Node::Function(id), file: found.get(&id).cloned() };
    let of_cycle = |at| IndexEntry { node: Node::Cycle(at), file: None };
    named.into_iter().map(of_function).chain((0..graph.cycles().len()).map(of_cycle)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_calls() {
        let prefix = |longest| unit(longest).prefix;
        assert_eq!(prefix(0.0), 'T');
        assert_eq!(prefix(2.5), ' ');
        assert_eq!(prefix(0.999), 'm');
        assert_eq!(prefix(1e-3), 'm');
        assert_eq!(prefix(2e-6), 'u');
        assert_eq!(prefix(1e-30), 'a');
        assert_eq!(prefix(f64::NAN), 'T');
    }
}
