//! Everything that a report may show, worked out and frozen.

use std::cmp::Reverse;

use gmon::{Dimension, Profile};

use crate::flat::{self, Flat};
use crate::functions::{FunctionId, Functions};
use crate::graph::arcs::Arcs;
use crate::graph::propagate::Choices;
use crate::graph::{Graph, Node};
use crate::image::SourceFiles;
use crate::number::Ordered;
use crate::selection::Selection;

/// What the numbers of a report measure.
#[derive(Debug)]
pub struct Clock {
    /// Samples for each unit of the dimension: each second, as a rule. 0 when the profile has no samples at all.
    pub rate: f64,
    /// What samples measure, normally seconds.
    pub dimension: Dimension,
    /// The dimension's abbreviation, normally `s`.
    pub abbrev: u8,
    /// Bytes of code that one bin stands for, rounded down to an even number.
    pub granularity: u64,
}

/// A row of the flat profile.
#[derive(Debug)]
pub struct FlatRow {
    /// The function.
    pub function: FunctionId,
    /// Its own time, in samples.
    pub time: f64,
    /// How often others called it.
    pub calls: u64,
    /// The time of what it called, in samples.
    pub children: f64,
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
pub struct FlatTable {
    /// The rows to show, the longest time first.
    pub rows: Vec<FlatRow>,
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
    pub file: Option<&'data [u8]>,
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
}

/// The results. Renderers see this and nothing else of the program or the profile.
#[derive(Debug)]
pub struct Analysis<'data> {
    /// The functions, for their names.
    pub functions: Functions<'data>,
    /// What the numbers measure.
    pub clock: Clock,
    /// The flat profile.
    pub flat: FlatTable,
    /// The call graph.
    pub calls: CallGraph<'data>,
}

impl<'data> Analysis<'data> {
    /// Works everything out. With `unused`, functions that were never called and took no time are shown as well.
    #[must_use]
    pub fn new(
        profile: &Profile,
        functions: Functions<'data>,
        files: &'data SourceFiles<'_>,
        unused: bool,
    ) -> Analysis<'data> {
        let chosen = Selection::program(&functions);
        let flat = Flat::new(&profile.histograms, &functions, &chosen);
        let arcs = Arcs::new(&profile.arcs, &functions);
        let graph = Graph::new(arcs, &flat, &functions, Choices { graph: &chosen, time: &chosen });
        let entries = graph.ranking.iter().copied().filter(|node| has_entry(*node, &graph, unused)).collect();
        let index = index(&functions, &flat, &graph, files, unused);
        let clock = clock(profile);
        Analysis {
            flat: flat_table(&functions, &flat, &graph, &chosen, unused, clock.rate),
            clock,
            calls: CallGraph { graph, entries, index },
            functions,
        }
    }
}

fn clock(profile: &Profile) -> Clock {
    let first = profile.histograms.first();
    let scale = profile.histograms.last().map_or(0.0, flat::bin_scale);
    Clock {
        rate: first.map_or(0.0, |histogram| f64::from(histogram.profrate)),
        dimension: first.map_or(Dimension::SECONDS, |histogram| histogram.dimension),
        abbrev: first.map_or(b's', |histogram| histogram.abbrev),
        granularity: (scale as u64).saturating_mul(flat::UNIT),
    }
}

fn flat_table(
    functions: &Functions<'_>,
    flat: &Flat,
    graph: &Graph,
    chosen: &Selection,
    unused: bool,
    rate: f64,
) -> FlatTable {
    let mut rows: Vec<FlatRow> = functions
        .ids()
        .map(|function| FlatRow {
            function,
            time: flat.time[function.index()],
            calls: graph.calls(function),
            children: graph.share(function).all_children,
        })
        .collect();
    let longest = rows
        .iter()
        .filter(|row| row.calls != 0)
        .map(|row| (row.time + row.children) / row.calls as f64)
        .fold(0.0, f64::max);
    rows.retain(|row| (unused || row.calls != 0 || row.time != 0.0) && chosen.chooses(row.function));
    rows.sort_by_key(|row| (Reverse((Ordered(row.time), row.calls)), functions[row.function].name));
    FlatTable { rows, unit: unit(longest / rate), total: flat.total }
}

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

fn has_entry(node: Node, graph: &Graph, unused: bool) -> bool {
    let (share, calls, own_calls) = match node {
        Node::Function(id) => (graph.share(id), graph.calls(id), graph.self_calls(id)),
        Node::Cycle(at) => (graph.cycle_share(at), graph.cycles()[at].calls, graph.cycles()[at].inner_calls),
    };
    share.shown && (unused || calls != 0 || own_calls != 0 || share.own != 0.0 || share.children != 0.0)
}

fn index<'data>(
    functions: &Functions<'data>,
    flat: &Flat,
    graph: &Graph,
    files: &'data SourceFiles<'_>,
    unused: bool,
) -> Vec<IndexEntry<'data>> {
    let mut named: Vec<FunctionId> =
        functions.ids().filter(|id| unused || graph.calls(*id) != 0 || flat.time[id.index()] != 0.0).collect();
    named.sort_by_key(|id| functions[*id].name);
    let statics = named.iter().map(|id| &functions[*id]).filter(|function| function.is_static);
    let files = files.base_names(statics.map(|function| function.address).collect());
    let of_function = |id: FunctionId| IndexEntry {
        node: Node::Function(id),
        file: files.get(&functions[id].address).copied().filter(|_| functions[id].is_static),
    };
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
