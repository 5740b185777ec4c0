//! Everything that a report may show, worked out and frozen.

mod analyze;
mod blocks;
pub mod bsd;
mod chains;
mod counts;
pub mod entries;
mod errors;
pub mod flat;
pub(crate) mod gnu_sum;
pub mod graph;
mod index;
pub mod inlined_times;
mod limit;
pub mod line_times;
mod names;
mod order;
pub(crate) mod ordered;
mod rows;
pub mod selection;
pub mod static_calls;
mod stats;
pub(crate) mod symbolize;

use gmon::{Dimension, Profile};

use crate::load::outside::OutsideImages;
use crate::load::profile_file::FileInfo;
use crate::symbols::file_names::FileNames;
pub(crate) use analyze::analyze;
pub use blocks::Blocks;
pub use counts::Count;
pub use errors::Errors;
pub use index::IndexEntry;
pub use limit::LeftOut;
pub use names::NameStyle;
pub use rows::{FlatProfile, FlatRow, RowNumbers, Unit};
pub use stats::Stats;

use crate::analysis::graph::arcs::Arcs;
use crate::analysis::graph::propagate::Choices;
use crate::analysis::graph::{Graph, Node};
use crate::analysis::line_times::LineTimes;
use crate::analysis::selection::Selections;
use crate::cli::options::{Options, OutputFormat, Wanted};
use crate::cli::rules::Granularity;
use crate::image::UNIT;
use crate::image::address_space::{Images, Mapping};
use crate::symbols::file_map::ObjectFiles;
use crate::symbols::functions::{FunctionId, Functions};
use crate::symbols::inlines::{InlineStacks, Inlined};
use crate::symbols::sources::Sources;
use flat::Flat;

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

/// The call graph with the choice of what to show of it.
#[derive(Debug)]
pub struct CallGraph<'data> {
    /// The graph.
    pub graph: Graph,
    /// All functions and cycles that the user did not choose against, used or not, in the order of their entries.
    pub all_entries: Vec<Node>,
    /// Those of them whose entries are shown: with `-z` the unused ones too, with `--top` so many only.
    pub entries: Vec<Node>,
    /// The index, by name.
    pub index: Vec<IndexEntry<'data>>,
    /// Whether the profiles are of a kind that has calls: without, numbers of entries lead nowhere.
    pub is_known: bool,
    /// The rank of the last entry that is shown: there may be more than the user wants.
    pub last_rank: u32,
    /// What is not shown for that reason.
    pub left_out: LeftOut,
}

/// The results. Renderers see this and nothing else of the program or the profile.
#[derive(Debug)]
pub struct Analysis<'data> {
    /// The functions, of which [`Analysis::name`] tells the names.
    pub functions: Functions<'data>,
    /// The images, in the order of [`Functions::image`].
    pub images: Vec<Mapping>,
    /// What names tell.
    pub names: NameStyle,
    /// What the numbers measure.
    pub clock: Clock,
    /// The flat profile.
    pub flat: FlatProfile<'data>,
    /// The call graph.
    pub calls: CallGraph<'data>,
    /// Where functions stand in source files, if any report shows it.
    pub sources: Sources,
    /// The choices of the user.
    pub selections: Selections,
    /// How often basic blocks ran, by line.
    pub blocks: Blocks,
    /// Where lines were inlined, by their addresses; empty unless that is to be told.
    pub chains: InlineStacks<'data>,
    /// The self time of source lines; empty unless a report shows it.
    pub line_times: LineTimes,
    /// The list of counts.
    pub counts: Vec<Count>,
    /// The functions in an order for linkers.
    pub order: Vec<FunctionId>,
    /// The object files in an order for linkers.
    pub file_order: Vec<&'data [u8]>,
    /// How much of the profiles all this accounts for, if any report tells.
    pub stats: Option<Stats>,
    /// How far self times may be off by chance, if any report shows it.
    pub errors: Errors,
    /// What the user asked for.
    pub(crate) options: &'data Options,
    /// The reports to write.
    pub(crate) wanted: Wanted,
    /// What each of the profiles consists of.
    pub(crate) files: &'data [FileInfo],
}

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
        let all_entries: Vec<Node> =
            graph.ranking.iter().copied().filter(|node| index::may_have_entry(*node, &analysed)).collect();
        let is_shown = |node: &Node| options.unused || graph.is_used(*node);
        let mut entries: Vec<Node> = all_entries.iter().copied().filter(is_shown).collect();
        let (left_out, last_rank) = limit::entries(&mut entries, &graph, options.limit);
        let index = if wanted.graph { index::index(&analysed, file_names, last_rank) } else { Vec::new() };
        let has_time = flat.runtime != 0.0 || flat.time.iter().any(|time| *time != 0.0);
        let is_told = wanted.stats || options.has_footer(wanted) || options.format == OutputFormat::Json || !has_time;
        let stats = is_told.then(|| Stats::new(profile, &functions, &flat, outside_images));
        let clock = Clock::new(profile, rules.granularity);
        let inlined = inlined.map(|inlined| inlined.times(&profile.histograms)).unwrap_or_default();
        let mut flat_table = rows::flat_table(&analysed, inlined, clock.rate);
        // Of a report that nobody wants nothing is left out.
        flat_table.left_out = if wanted.flat { flat_table.left_out } else { LeftOut::default() };
        let left_out = if wanted.graph { left_out } else { LeftOut::default() };
        let counts = if wanted.counts { counts::counts(&analysed) } else { Vec::new() };
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

// Threads may share an analysis: this does not compile otherwise.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Analysis<'static>>();
};

impl Clock {
    /// The time that samples stand for.
    #[must_use]
    pub fn time(&self, samples: f64) -> f64 {
        samples / self.rate
    }

    /// The part of all samples that one is, in percent.
    #[must_use]
    pub fn percent_of_one(total: f64) -> f64 {
        100.0 / total
    }

    /// What a profile says.
    pub(crate) fn new(profile: &Profile, granularity: Granularity) -> Clock {
        let (first, last) = (profile.histograms.first(), profile.histograms.last());
        let scale = last.map_or(0.0, flat::bin_scale);
        Clock {
            rate: first.map_or(0.0, |histogram| f64::from(histogram.profrate)),
            dimension: first.map_or(Dimension::SECONDS, |histogram| histogram.dimension),
            abbrev: first.map_or(b's', |histogram| histogram.abbrev),
            granularity: match granularity {
                Granularity::Bytes => last.map_or(0.0, flat::bin_size),
                Granularity::Units => scale * UNIT as f64,
                Granularity::WholeUnits => (scale as u64).saturating_mul(UNIT) as f64,
            },
        }
    }
}
