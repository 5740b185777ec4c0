//! The results of an analysis, which renderers read.

use std::sync::{Arc, OnceLock};

use gmon::Profile;

use super::blocks::Blocks;
use super::bound_rows::BoundsTable;
use super::clock::Clock;
use super::context_rows::ContextTables;
use super::counts::Count;
use super::cut_stacks::CutStacks;
use super::division::Innermost;
use super::errors::Errors;
use super::flame::Flame;
use super::flat::Flat;
use super::index::IndexEntry;
use super::input::{Input, StackInput};
use super::line_times::LineTimes;
use super::linker_order::LinkerOrder;
use super::name_style::NameStyle;
use super::on_demand::OnDemandCounts;
use super::rows::FlatProfile;
use super::sample_trees::SampleTrees;
use super::selection::Selections;
use super::stack_tree::StackTree;
use super::stats::Stats;
use super::timed_graph::{Entries, TimedGraph};
use crate::program::image::address_space::{Images, Mapping};
use crate::program::symbols::file_map::ObjectFiles;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::inlines::{InlineStacks, Inlined};
use crate::program::symbols::sources::Sources;
use crate::question::options::Options;
use crate::question::reports::Wanted;
use crate::sources::Loaded;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::SideInfo;

/// A function of the program: its symbol and its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionInfo<'a> {
    /// The name in the symbol table, which may be mangled.
    pub symbol: &'a [u8],
    /// The index of the function's image in [`Analysis::images`].
    pub image: usize,
    /// The first address of the function, as the linker assigned it.
    pub address: u64,
    /// The number of bytes up to the next function, or to the end of the code.
    pub size: u64,
    /// Whether only the function's own object file sees the symbol.
    pub is_local: bool,
    /// Whether the symbol table marks the symbol as a function. Labels in assembly code may not be marked; their calls
    /// count for the marked function before them.
    pub is_marked: bool,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceLocation<'a> {
    /// The path of the file, as the debug information has it.
    pub file: &'a [u8],
    /// The line, counted from one.
    pub line: u32,
}

/// The results of an analysis, as the renderers of all formats see them.
///
/// Functions are known by their [`FunctionId`]. [`Analysis::flat_rows`] returns the rows of the flat profile,
/// [`Analysis::entries`] and [`Analysis::entry`] the call graph. An analysis never changes: each part is computed from
/// the input when a renderer first asks for the part. Threads can share an analysis.
pub struct Analysis<'data> {
    /// The functions of all images.
    pub(crate) functions: Arc<Functions<'data>>,
    /// All that was read.
    pub(super) loaded: &'data Loaded,
    /// The images, with their addresses.
    pub(super) parsed_images: &'data Images<'data>,
    /// The images, in the order of [`Functions::image`].
    pub(super) images: Vec<Mapping>,
    /// The sum of all profiles; empty if no report needs an analysis.
    pub(super) profile: &'data Profile,
    /// The stacks of the samples, if there are any and a report needs an analysis.
    pub(super) stack_input: Option<StackInput<'data>>,
    /// How reports spell the names of functions.
    pub(super) names: NameStyle,
    /// The unit of the samples.
    pub(crate) clock: Clock,
    /// The object files, if the user has a map of these (`-R`).
    pub(super) object_files: Option<ObjectFiles<'data>>,
    /// The source locations of functions; empty if neither a selection nor a report needs locations.
    pub(crate) sources: Sources,
    /// The functions and arcs that the user selected.
    pub(crate) selections: Selections,
    /// The inlined functions, if reports show these (`--inlines`).
    pub(super) inlined: Option<Inlined<'data>>,
    /// The inlined calls that lead to each line, by the address of the line; empty without `-l --inlines`.
    pub(super) inline_stacks: InlineStacks<'data>,
    /// The self times of source lines; empty without `--source-times`.
    pub(crate) line_times: LineTimes,
    /// What the user asked for.
    pub(crate) options: &'data Options,
    /// The reports to write.
    pub(crate) wanted: Wanted,
    /// The first warnings about the files and the analysis, each once.
    pub(crate) said: Vec<String>,
    /// The contents of each profile.
    pub(crate) files: &'data [FileInfo],
    /// The contents of the side files.
    pub(crate) side_files: &'data [SideInfo],
    /// What was computed so far.
    pub(super) parts: Parts<'data>,
}

/// The parts of an analysis. Each is a function of the analysis's other fields, and of other parts. [`super::compute`]
/// and the methods for renderers compute a part at its first use.
#[derive(Debug, Default)]
pub(super) struct Parts<'data> {
    /// The samples of stacks by address.
    pub(super) innermost: OnceLock<Innermost>,
    /// The self times.
    pub(super) flat: OnceLock<Flat>,
    /// What was counted on demand.
    pub(super) on_demand_counts: OnceLock<Option<OnDemandCounts>>,
    /// The call graph.
    pub(super) graph: OnceLock<TimedGraph>,
    /// The standard errors.
    pub(super) errors: OnceLock<Errors>,
    /// The rows of the flat profile.
    pub(super) flat_profile: OnceLock<FlatProfile<'data>>,
    /// The functions and cycles that have entries.
    pub(super) entries: OnceLock<Entries>,
    /// The index of the call graph.
    pub(super) index: OnceLock<Vec<IndexEntry<'data>>>,
    /// The counts of basic blocks.
    pub(super) blocks: OnceLock<Blocks>,
    /// The samples whose stacks are not whole.
    pub(super) cut_stacks: OnceLock<Option<CutStacks>>,
    /// The bounds of inclusive times.
    pub(super) bounds: OnceLock<Option<BoundsTable>>,
    /// The calling contexts and the callers.
    pub(super) context_tables: OnceLock<ContextTables<'data>>,
    /// The list of execution counts.
    pub(super) counts: OnceLock<Vec<Count>>,
    /// The functions in an order for linkers.
    pub(super) order: OnceLock<Vec<FunctionId>>,
    /// The functions that ran and their calls, for linkers that take files of orders.
    pub(super) linker_order: OnceLock<LinkerOrder>,
    /// The object files in an order for linkers.
    pub(super) file_order: OnceLock<Vec<&'data [u8]>>,
    /// The sums over the profiles.
    pub(super) stats: OnceLock<Stats>,
    /// The source locations of all functions. Not used where [`Analysis::sources`] has them.
    pub(super) all_sources: OnceLock<Sources>,
    /// The flame graph.
    pub(super) flame: OnceLock<Flame>,
    /// The tree of dominators.
    pub(super) dominators: OnceLock<Flame>,
    /// The tree of calling contexts.
    pub(super) stack_tree: OnceLock<Option<StackTree<'data>>>,
    /// The trees of calling contexts by thread.
    pub(super) thread_trees: OnceLock<Vec<StackTree<'data>>>,
    /// The samples as trees of frames.
    pub(super) sample_trees: OnceLock<SampleTrees<'data>>,
}

impl<'data> Analysis<'data> {
    /// Makes an analysis, of which no part is computed yet.
    pub(super) fn new(input: Input<'data>) -> Analysis<'data> {
        let Input { functions, loaded, options, wanted, selections, profile, stacks, .. } = input;
        let parsed_images = loaded.images();
        Analysis {
            functions,
            loaded,
            parsed_images,
            images: parsed_images.mappings(),
            profile,
            stack_input: stacks,
            names: NameStyle::new(options),
            clock: Clock::new(profile, options.rules.granularity),
            object_files: input.object_files,
            sources: input.sources,
            selections,
            inlined: input.inlined,
            inline_stacks: input.inline_stacks,
            line_times: input.line_times,
            options,
            wanted,
            said: loaded.said().to_vec(),
            files: loaded.files(),
            side_files: loaded.side_files(),
            parts: Parts::default(),
        }
    }
}

impl std::fmt::Debug for Analysis<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Analysis { functions, images, clock, options, wanted, parts, .. } = self;
        let mut fields = f.debug_struct("Analysis");
        fields.field("functions", functions).field("images", images).field("clock", clock);
        fields.field("options", options).field("wanted", wanted).field("parts", parts).finish_non_exhaustive()
    }
}

// This does not compile unless threads can share an analysis.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Analysis<'static>>();
};
