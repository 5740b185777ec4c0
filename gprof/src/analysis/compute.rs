//! Works out an analysis from a profile and the functions.

use gmon::Profile;

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
use super::model::{Analysis, CallGraph};
use super::name_style::NameStyle;
use super::selection::Selections;
use super::stats::Stats;
use super::{counts, index, limit, order, rows, static_calls};
use crate::cli::options::{Options, OutputFormat, Wanted};
use crate::image::address_space::Images;
use crate::load::outside::OutsideImages;
use crate::load::profile_file::FileInfo;
use crate::symbols::file_map::ObjectFiles;
use crate::symbols::file_names::FileNames;
use crate::symbols::functions::{FunctionId, Functions};
use crate::symbols::inlines::{InlineStacks, Inlined};
use crate::symbols::sources::Sources;

/// What an analysis is made of.
pub struct Input<'a, 'data> {
    /// The sum of all profiles.
    pub profile: &'a Profile,
    /// The images, each at its place.
    pub images: &'data Images<'data>,
    /// The source files of single functions, for those that a report shows.
    pub file_names: FileNames<'data>,
    /// The object files, if functions are put together to files.
    pub object_files: Option<ObjectFiles<'data>>,
    /// Where functions stand in source files; empty if neither a choice nor a report needs it.
    pub sources: Sources,
    /// The choices of the user.
    pub selections: Selections,
    /// What was inlined, if functions of that are to be told of.
    pub inlined: Option<Inlined<'data>>,
    /// Where lines were inlined, if that is to be told.
    pub chains: InlineStacks<'data>,
    /// The self time of source lines, if a report shows it.
    pub line_times: LineTimes,
    /// What is in none of the images.
    pub outside_images: OutsideImages,
    /// What the user asked for.
    pub options: &'data Options,
    /// The reports to write.
    pub wanted: Wanted,
    /// What each of the profiles consists of.
    pub files: &'data [FileInfo],
}

impl<'data> Analysis<'data> {
    /// Works everything out.
    #[must_use]
    pub fn new(functions: Functions<'data>, input: Input<'_, 'data>) -> Analysis<'data> {
        let Input { profile, images, object_files, sources, selections, inlined, chains, .. } = input;
        let Input { line_times, outside_images, options, wanted, files, file_names, .. } = input;
        let rules = options.rules;
        let assign = if rules.divides_bins_exactly { Flat::exact } else { Flat::new };
        let flat = assign(&profile.histograms, &functions, &selections.flat);
        let possible = if options.static_calls {
            let find = |code| static_calls::find(&code, &functions, &profile.histograms, rules.finds_all_static_calls);
            images.code().flat_map(find).collect()
        } else {
            Vec::new()
        };
        let arcs = Arcs::chosen(&profile.arcs, &functions, &selections.arcs, &possible, rules.shows_outside);
        let choices = Choices { graph: &selections.graph, time: &selections.time, thorough: rules.leaves_out_callees };
        let is_ranked = !wanted.is_flat_alone() || options.traditional || options.errors || object_files.is_some();
        let rank = if is_ranked { Graph::new } else { Graph::unranked };
        let graph = rank(arcs, &flat, &functions, choices);
        let blocks: &[gmon::Block] = if options.by_line { &profile.blocks } else { &[] };
        let blocks = Blocks::new(blocks, &functions, rules.most_blocks_of_line);
        let errors = if options.errors {
            Errors::new(&profile.histograms, &functions, &selections.flat, &graph, inlined.as_ref())
        } else {
            Errors::default()
        };
        let basis = Basis {
            functions: &functions,
            flat: &flat,
            graph: &graph,
            sources: &sources,
            selections: &selections,
            blocks: &blocks,
            errors: &errors,
            options,
        };
        let all_entries: Vec<Node> =
            graph.ranking.iter().copied().filter(|node| index::may_have_entry(*node, &basis)).collect();
        let is_shown = |node: &Node| options.unused || graph.is_used(*node);
        let mut entries: Vec<Node> = all_entries.iter().copied().filter(is_shown).collect();
        let (left_out, last_rank) = limit::entries(&mut entries, &graph, options.limit);
        let index = if wanted.graph { index::index(&basis, file_names, last_rank) } else { Vec::new() };
        let has_time = flat.runtime != 0.0 || flat.time.iter().any(|time| *time != 0.0);
        let is_told = wanted.stats || options.has_footer(wanted) || options.format == OutputFormat::Json || !has_time;
        let stats = is_told.then(|| Stats::new(profile, &functions, &flat, outside_images));
        let clock = Clock::new(profile, rules.granularity);
        let inlined = inlined.map(|inlined| inlined.times(&profile.histograms)).unwrap_or_default();
        let mut flat_table = rows::flat_table(&basis, inlined, clock.rate);
        // Of a report that nobody wants nothing is left out.
        flat_table.left_out = if wanted.flat { flat_table.left_out } else { LeftOut::default() };
        let left_out = if wanted.graph { left_out } else { LeftOut::default() };
        let counts = if wanted.counts { counts::counts(&basis) } else { Vec::new() };
        let counts_for = |id: FunctionId| functions[id].counts_for;
        let order = wanted.function_order.then(|| order::order(functions.ids(), counts_for, &graph));
        let order = order.unwrap_or_default();
        let file_order = object_files.map_or_else(Vec::new, |files| order::files(&functions, &graph, &files));
        Analysis {
            flat: flat_table,
            clock,
            calls: CallGraph { graph, all_entries, entries, index, is_known: wanted.calls, last_rank, left_out },
            blocks,
            chains,
            line_times,
            counts,
            order,
            file_order,
            stats,
            errors,
            functions,
            images: images.mappings(),
            names: NameStyle::new(options),
            sources,
            selections,
            options,
            wanted,
            files,
        }
    }
}
