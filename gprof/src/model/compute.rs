//! Computes an analysis from a profile and the functions.

use std::sync::Arc;

use super::analysis::{Analysis, CallGraph, OnDemand};
use super::bound_rows::BoundsTable;
use super::clock::Clock;
use super::context_rows::ContextTables;
use super::counts::Count;
use super::graph::{Graph, Node};
use super::index::IndexEntry;
use super::input::Input;
use super::intermediate::Intermediate;
use super::limit::LeftOut;
use super::linker_order::LinkerOrder;
use super::name_style::NameStyle;
use super::stats::FlatSums;
use super::{counts, index, limit, order, rows};
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::question::reports::{BOUNDS, COUNTS, FUNCTION_ORDER, GRAPH, LINKER_ORDER};

impl<'data> Analysis<'data> {
    /// Computes all parts of an analysis but those on demand.
    pub(super) fn new(functions: Arc<Functions<'data>>, input: Input<'data>) -> Analysis<'data> {
        let flat = input.flat(&functions);
        let measured = input.measured(&functions);
        let graph = input.graph(&functions, &flat, measured.as_ref());
        let stacks = measured.map(|measured| measured.sums);
        let cut_stacks = input.cut_stacks();
        let (blocks, errors) = (input.blocks(&functions), input.errors(&functions, &graph, stacks.as_ref()));
        let clock = Clock::new(input.profile, input.options.rules.granularity);
        let intermediate = Intermediate {
            functions: &functions,
            flat: &flat,
            graph: &graph,
            blocks: &blocks,
            errors: &errors,
            input: &input,
        };
        let flat_profile = rows::flat_profile(&intermediate, clock.rate);
        let bounds = input.wanted.has(BOUNDS).then(|| BoundsTable::new(&intermediate, clock.rate));
        let context_tables = ContextTables::new(&input, &functions, &graph, clock.rate);
        let entries = Entries::new(&intermediate);
        let Lists { index, counts, order, linker_order, file_order } = Lists::new(&intermediate, entries.last_rank);
        Analysis {
            on_demand: OnDemand::new(
                input.profile,
                input.images,
                (FlatSums::new(&flat), input.innermost),
                input.outside_images,
                input.stacks,
            ),
            flat: flat_profile,
            clock,
            call_graph: entries.into_call_graph(graph, index, input.wanted.calls),
            blocks,
            stacks,
            cut_stacks,
            bounds,
            context_tables,
            inline_stacks: input.inline_stacks,
            line_times: input.line_times,
            counts,
            order,
            linker_order,
            file_order,
            errors,
            functions,
            images: input.images.mappings(),
            names: NameStyle::new(input.options),
            sources: input.sources,
            selections: input.selections,
            options: input.options,
            wanted: input.wanted,
            files: input.files,
            side_files: input.side_files,
            conservation: input.conservation,
            mismatches: input.mismatches,
        }
    }
}

/// The lists that reports show as they are.
struct Lists<'data> {
    index: Vec<IndexEntry<'data>>,
    counts: Vec<Count>,
    order: Vec<FunctionId>,
    linker_order: LinkerOrder,
    file_order: Vec<&'data [u8]>,
}

impl<'data> Lists<'data> {
    /// Computes the lists that the user wants. The index ends with the entry of this rank.
    fn new(intermediate: &Intermediate<'_, 'data>, last_rank: u32) -> Lists<'data> {
        let Intermediate { functions, flat, graph, input, .. } = intermediate;
        let Input { wanted, object_files, .. } = input;
        let counts_for = |id: FunctionId| functions[id].counts_for;
        Lists {
            index: if wanted.has(GRAPH) { index::index(intermediate, last_rank) } else { Vec::new() },
            counts: if wanted.has(COUNTS) { counts::counts(intermediate) } else { Vec::new() },
            order: match wanted.has(FUNCTION_ORDER) {
                true => order::order(functions.ids(), counts_for, graph),
                false => Vec::new(),
            },
            linker_order: match wanted.has(LINKER_ORDER) {
                true => LinkerOrder::new(functions, flat, graph),
                false => LinkerOrder::default(),
            },
            file_order: object_files.as_ref().map_or_else(Vec::new, |files| order::files(functions, graph, files)),
        }
    }
}

/// The functions and cycles that have entries in the call graph.
struct Entries {
    all_entries: Vec<Node>,
    entries: Vec<Node>,
    left_out: LeftOut,
    last_rank: u32,
}

impl Entries {
    fn new(intermediate: &Intermediate<'_, '_>) -> Entries {
        let Intermediate { graph, input: Input { options, wanted, .. }, .. } = intermediate;
        let may_have_entry = |node: &Node| index::may_have_entry(*node, intermediate);
        let all_entries: Vec<Node> = graph.ranking.iter().copied().filter(may_have_entry).collect();
        let is_shown = |node: &Node| options.unused || graph.is_used(*node);
        let mut entries: Vec<Node> = all_entries.iter().copied().filter(is_shown).collect();
        let (left_out, last_rank) = limit::entries(&mut entries, graph, options.limit);
        // The footer does not mention a report that the user does not want.
        let left_out = if wanted.has(GRAPH) { left_out } else { LeftOut::default() };
        Entries { all_entries, entries, left_out, last_rank }
    }

    fn into_call_graph<'data>(self, graph: Graph, index: Vec<IndexEntry<'data>>, is_known: bool) -> CallGraph<'data> {
        let Entries { all_entries, entries, left_out, last_rank } = self;
        CallGraph { graph, all_entries, entries, index, is_known, last_rank, left_out }
    }
}
