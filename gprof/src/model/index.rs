//! The index of the call graph, and which functions and cycles have entries.

use std::borrow::Cow;
use std::collections::HashMap;

use super::intermediate::Intermediate;
use crate::model::graph::{Graph, Node};
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::sources::FileNames;
use crate::question::options::Options;

/// An entry of the index.
#[derive(Debug)]
pub struct IndexEntry<'data> {
    /// The function or cycle.
    pub node: Node,
    /// The name of the source file of a local function, if known.
    pub file: Option<Cow<'data, [u8]>>,
}

/// Returns whether a function or cycle may have an entry. Entries of unused functions appear only with `-z`.
pub(super) fn may_have_entry(node: Node, graph: &Graph, functions: &Functions<'_>, options: &Options) -> bool {
    match node {
        Node::Function(id) if !functions.is_whole(id) => false,
        // Calls lead to functions. Other lines appear among the callers only.
        Node::Function(id) if options.by_line && !functions.is_marked(id) => false,
        Node::Cycle(_) if options.by_line && !options.rules.shows_cycles_by_line => false,
        node => graph.node_share(node).shown,
    }
}

/// Returns the index, by name, of all functions and cycles up to a rank.
pub(super) fn index<'data>(intermediate: &Intermediate<'_, 'data>, last_rank: u32) -> Vec<IndexEntry<'data>> {
    let Intermediate { functions, flat, graph, sources, options, is_measured, images, .. } = intermediate;
    // GNU does not name functions that only called others. Where stacks show them, they have entries with time.
    let has_time = |id: &FunctionId| *is_measured && graph.share(*id).children != 0.0;
    let has_calls = |id| graph.calls(id) != 0 || graph.estimates().are_seen(id);
    let is_named = |id: &FunctionId| options.unused || has_calls(*id) || flat.time[id.index()] != 0.0 || has_time(id);
    let is_listed = |node: Node| graph.rank(node) <= last_rank;
    let mut named: Vec<FunctionId> = functions
        .ids()
        .filter(|id| functions.is_whole(*id))
        .filter(|id| is_named(id) && is_listed(Node::Function(*id)))
        .collect();
    named.sort_by_key(|id| functions[*id].name);
    // By line, every name has its file.
    let needs_file = |id: &FunctionId| functions[*id].is_static && !options.by_line;
    let statics: Vec<FunctionId> = named.iter().copied().filter(needs_file).collect();
    // If the source locations of all functions are known, the line tables are not read again.
    let found: HashMap<FunctionId, Cow<'data, [u8]>> = if options.symbols.is_some() {
        // Symbols of a file (-S) come without source files.
        HashMap::new()
    } else if sources.files.is_empty() {
        FileNames::new(images).of(functions, statics)
    } else {
        let name = |id| Some((id, Cow::Owned(sources.name(sources.place(id)?.file, options.paths).to_vec())));
        statics.into_iter().filter_map(name).collect()
    };
    let of_function = |id: FunctionId| IndexEntry { node: Node::Function(id), file: found.get(&id).cloned() };
    let of_cycle = |at| IndexEntry { node: Node::Cycle(at), file: None };
    let cycles = (0..graph.cycles().len()).filter(|at| is_listed(Node::Cycle(*at)));
    named.into_iter().map(of_function).chain(cycles.map(of_cycle)).collect()
}
