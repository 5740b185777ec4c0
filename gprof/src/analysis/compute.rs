//! Computes an analysis from a profile and the functions.

use std::sync::OnceLock;

use gmon::{Block, Profile};

use super::basis::Basis;
use super::blocks::Blocks;
use super::clock::Clock;
use super::errors::Errors;
use super::flat::Flat;
use super::graph::arcs::Arcs;
use super::graph::propagate::Choices;
use super::graph::{Graph, Node};
use super::limit::LeftOut;
use super::line_times::LineTimes;
use super::model::{Analysis, CallGraph, OnDemand};
use super::name_style::NameStyle;
use super::selection::Selections;
use super::stats::FlatSums;
use super::{counts, index, limit, order, rows, static_calls};
use crate::cli::options::{Options, Wanted};
use crate::image::address_space::Images;
use crate::load::outside::OutsideImages;
use crate::load::profile_file::FileInfo;
use crate::symbols::file_map::ObjectFiles;
use crate::symbols::file_names::FileNames;
use crate::symbols::functions::{FunctionId, Functions};
use crate::symbols::inlines::{InlineStacks, Inlined};
use crate::symbols::sources::Sources;

/// The inputs of an analysis.
pub(super) struct Input<'data> {
    /// The sum of all profiles.
    pub(super) profile: &'data Profile,
    /// The images, with their addresses.
    pub(super) images: &'data Images<'data>,
    /// Looks up the source files of single functions.
    pub(super) file_names: FileNames<'data>,
    /// The object files, if the user has a map of these (`-R`).
    pub(super) object_files: Option<ObjectFiles<'data>>,
    /// The source locations of functions; empty if neither a selection nor a report needs locations.
    pub(super) sources: Sources,
    /// The functions and arcs that the user selected.
    pub(super) selections: Selections,
    /// The inlined functions, if reports show these (`--inlines`).
    pub(super) inlined: Option<Inlined<'data>>,
    /// The inlined calls that lead to each line (`-l --inlines`).
    pub(super) inline_stacks: InlineStacks<'data>,
    /// The self times of source lines, if a report shows these.
    pub(super) line_times: LineTimes,
    /// Samples and calls in none of the images.
    pub(super) outside_images: OutsideImages,
    /// What the user asked for.
    pub(super) options: &'data Options,
    /// The reports to write.
    pub(super) wanted: Wanted,
    /// The contents of each profile.
    pub(super) files: &'data [FileInfo],
}

impl<'data> Analysis<'data> {
    /// Computes all parts of an analysis but those on demand.
    pub(super) fn new(functions: Functions<'data>, input: Input<'data>) -> Analysis<'data> {
        let flat = input.flat(&functions);
        let graph = input.graph(&functions, &flat);
        let Input { profile, images, object_files, sources, selections, inlined, options, wanted, .. } = input;
        let blocks: &[Block] = if options.by_line { &profile.blocks } else { &[] };
        let blocks = Blocks::new(blocks, &functions, options.rules.most_blocks_of_line);
        let errors = match options.errors {
            true => Errors::new(&profile.histograms, &functions, &selections.flat, &graph, inlined.as_ref()),
            false => Errors::default(),
        };
        let clock = Clock::new(profile, options.rules.granularity);
        let basis = Basis {
            functions: &functions,
            flat: &flat,
            graph: &graph,
            sources: &sources,
            selections: &selections,
            blocks: &blocks,
            errors: &errors,
            options,
            wanted,
        };
        let inlined = inlined.map(|inlined| inlined.times(&profile.histograms)).unwrap_or_default();
        let flat_profile = rows::flat_profile(&basis, inlined, clock.rate);
        let Entries { all_entries, entries, left_out, last_rank } = Entries::new(&basis);
        let index = if wanted.graph { index::index(&basis, input.file_names, last_rank) } else { Vec::new() };
        let counts = if wanted.counts { counts::counts(&basis) } else { Vec::new() };
        let order = if wanted.function_order { function_order(&basis) } else { Vec::new() };
        let file_order = object_files.map_or_else(Vec::new, |files| order::files(&functions, &graph, &files));
        let flat_sums = FlatSums::new(&flat);
        Analysis {
            flat: flat_profile,
            clock,
            calls: CallGraph { graph, all_entries, entries, index, is_known: wanted.calls, last_rank, left_out },
            blocks,
            inline_stacks: input.inline_stacks,
            line_times: input.line_times,
            counts,
            order,
            file_order,
            errors,
            functions,
            images: images.mappings(),
            names: NameStyle::new(options),
            sources,
            selections,
            options,
            wanted,
            files: input.files,
            on_demand: OnDemand {
                profile,
                parsed_images: images,
                flat_sums,
                outside_images: input.outside_images,
                stats: OnceLock::new(),
                sources: OnceLock::new(),
            },
        }
    }
}

impl Input<'_> {
    /// Divides the samples among the functions.
    fn flat(&self, functions: &Functions<'_>) -> Flat {
        let divide = if self.options.rules.divides_bins_exactly { Flat::exact } else { Flat::new };
        divide(&self.profile.histograms, functions, &self.selections.flat)
    }

    /// Builds the call graph and propagates times.
    fn graph(&self, functions: &Functions<'_>, flat: &Flat) -> Graph {
        let Input { profile, options, wanted, selections, .. } = self;
        let rules = options.rules;
        let static_calls = if options.static_calls {
            let find = |code| static_calls::find(&code, functions, &profile.histograms, rules.finds_all_static_calls);
            self.images.code().flat_map(find).collect()
        } else {
            Vec::new()
        };
        let arcs = Arcs::chosen(&profile.arcs, functions, &selections.arcs, &static_calls, rules.shows_outside);
        let choices = Choices { graph: &selections.graph, time: &selections.time, thorough: rules.leaves_out_callees };
        // The flat profile alone shows no rank.
        let is_ranked = !wanted.is_flat_alone() || options.traditional || options.errors || self.object_files.is_some();
        let build = if is_ranked { Graph::new } else { Graph::unranked };
        build(arcs, flat, functions, choices)
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
    fn new(basis: &Basis<'_, '_>) -> Entries {
        let Basis { graph, options, wanted, .. } = basis;
        let may_have_entry = |node: &Node| index::may_have_entry(*node, basis);
        let all_entries: Vec<Node> = graph.ranking.iter().copied().filter(may_have_entry).collect();
        let is_shown = |node: &Node| options.unused || graph.is_used(*node);
        let mut entries: Vec<Node> = all_entries.iter().copied().filter(is_shown).collect();
        let (left_out, last_rank) = limit::entries(&mut entries, graph, options.limit);
        // The footer does not mention a report that the user does not want.
        let left_out = if wanted.graph { left_out } else { LeftOut::default() };
        Entries { all_entries, entries, left_out, last_rank }
    }
}

fn function_order(basis: &Basis<'_, '_>) -> Vec<FunctionId> {
    let functions = basis.functions;
    order::order(functions.ids(), |id| functions[id].counts_for, basis.graph)
}
