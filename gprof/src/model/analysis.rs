//! The results of an analysis, which renderers read.

use std::sync::{Arc, OnceLock};

use gmon::Profile;

use super::blocks::Blocks;
use super::bound_rows::BoundsTable;
use super::clock::Clock;
use super::context_rows::ContextTables;
use super::contexts::ticks::StackSums;
use super::counts::Count;
use super::cut_stacks::CutStacks;
use super::division::Innermost;
use super::errors::Errors;
use super::flame::Flame;
use super::graph::{Graph, Node};
use super::index::IndexEntry;
use super::input::StackInput;
use super::limit::LeftOut;
use super::line_times::LineTimes;
use super::linker_order::LinkerOrder;
use super::name_style::NameStyle;
use super::rows::FlatProfile;
use super::sample_trees::SampleTrees;
use super::selection::Selections;
use super::stack_tree::StackTree;
use super::stats::{FlatSums, Stats};
use crate::program::image::address_space::{Images, Mapping};
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::inlines::InlineStacks;
use crate::program::symbols::sources::Sources;
use crate::question::options::Options;
use crate::question::reports::Wanted;
use crate::sources::OutsideImages;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::SideInfo;
use crate::sources::side_sum::Conservation;

/// The call graph, with the entries that reports show.
#[derive(Debug)]
pub(crate) struct CallGraph<'data> {
    /// The graph.
    pub(crate) graph: Graph,
    /// All functions and cycles that the user did not exclude, used or not, in the order of their ranks.
    pub(crate) all_entries: Vec<Node>,
    /// The functions and cycles that have entries in the report, in the order of their ranks.
    pub(crate) entries: Vec<Node>,
    /// The index, in the order of names.
    pub(crate) index: Vec<IndexEntry<'data>>,
    /// Whether the format of the profiles has room for calls. If it has not, no function has an entry.
    pub(crate) is_known: bool,
    /// The rank of the last entry that the report shows. The options limit the number of entries.
    pub(crate) last_rank: u32,
    /// The entries beyond that limit.
    pub(crate) left_out: LeftOut,
}

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
/// [`Analysis::entries`] and [`Analysis::entry`] the call graph. Expensive parts (the lines of entries, statistics,
/// source locations) are computed when they are asked for. Threads can share an analysis.
#[derive(Debug)]
pub struct Analysis<'data> {
    /// The functions of all images.
    pub(crate) functions: Arc<Functions<'data>>,
    /// The images, in the order of [`Functions::image`].
    pub(crate) images: Vec<Mapping>,
    /// How reports spell the names of functions.
    pub(crate) names: NameStyle,
    /// The unit of the samples.
    pub(crate) clock: Clock,
    /// The flat profile.
    pub(crate) flat: FlatProfile<'data>,
    /// The call graph.
    pub(crate) call_graph: CallGraph<'data>,
    /// How much of the samples has stacks, if the times of called functions are measured.
    pub(crate) stacks: Option<StackSums>,
    /// The samples whose stacks are not whole, if a report shows times from stacks.
    pub(crate) cut_stacks: Option<CutStacks>,
    /// The source locations of functions, if the options need them.
    pub(crate) sources: Sources,
    /// The functions and arcs that the user selected.
    pub(crate) selections: Selections,
    /// The counts of basic blocks, by line.
    pub(crate) blocks: Blocks,
    /// The inlined calls that lead to each line, by the address of the line; empty without `-l --inlines`.
    pub(crate) inline_stacks: InlineStacks<'data>,
    /// The self times of source lines; empty without `--source-times`.
    pub(crate) line_times: LineTimes,
    /// The list of execution counts.
    pub(crate) counts: Vec<Count>,
    /// The functions in an order for linkers.
    pub(crate) order: Vec<FunctionId>,
    /// The functions that ran and their calls, for linkers that take files of orders.
    pub(crate) linker_order: LinkerOrder,
    /// The object files in an order for linkers.
    pub(crate) file_order: Vec<&'data [u8]>,
    /// The bounds of inclusive times, if the options ask for them.
    pub(crate) bounds: Option<BoundsTable>,
    /// The calling contexts and the callers, if the options ask for them.
    pub(crate) context_tables: ContextTables<'data>,
    /// The standard errors of self times, if a report shows them.
    pub(crate) errors: Errors,
    /// What the user asked for.
    pub(crate) options: &'data Options,
    /// The reports to write.
    pub(crate) wanted: Wanted,
    /// The contents of each profile.
    pub(crate) files: &'data [FileInfo],
    /// The contents of the side files.
    pub(crate) side_files: &'data [SideInfo],
    /// The samples of the runs whose CPU time is known, and this time.
    pub(crate) conservation: &'data Conservation,
    /// Why profiles may not belong to their images.
    pub(crate) mismatches: &'data [String],
    /// What the parts that are computed on demand need.
    pub(super) on_demand: OnDemand<'data>,
}

/// The parts of an analysis that are computed when a renderer asks for them, with their inputs.
pub(super) struct OnDemand<'data> {
    pub(super) profile: &'data Profile,
    pub(super) parsed_images: &'data Images<'data>,
    pub(super) innermost: Innermost,
    pub(super) flat_sums: FlatSums,
    pub(super) outside_images: OutsideImages,
    pub(super) stats: OnceLock<Stats>,
    /// The source locations of all functions. Not used where [`Analysis::sources`] has them.
    pub(super) sources: OnceLock<Sources>,
    /// The stacks of the samples, if there are any.
    pub(super) stacks: Option<StackInput<'data>>,
    pub(super) flame: OnceLock<Flame>,
    pub(super) dominators: OnceLock<Flame>,
    pub(super) stack_tree: OnceLock<Option<StackTree<'data>>>,
    pub(super) thread_trees: OnceLock<Vec<StackTree<'data>>>,
    pub(super) sample_trees: OnceLock<SampleTrees<'data>>,
}

impl<'data> OnDemand<'data> {
    pub(super) fn new(
        profile: &'data Profile,
        parsed_images: &'data Images<'data>,
        (flat_sums, innermost): (FlatSums, Innermost),
        outside_images: OutsideImages,
        stacks: Option<StackInput<'data>>,
    ) -> OnDemand<'data> {
        let (stats, sources) = (OnceLock::new(), OnceLock::new());
        let (stack_tree, thread_trees, sample_trees) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (flame, dominators) = (OnceLock::new(), OnceLock::new());
        OnDemand {
            profile,
            parsed_images,
            innermost,
            flat_sums,
            outside_images,
            stats,
            sources,
            stacks,
            stack_tree,
            thread_trees,
            sample_trees,
            flame,
            dominators,
        }
    }
}

impl std::fmt::Debug for OnDemand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnDemand").field("stats", &self.stats).field("sources", &self.sources).finish_non_exhaustive()
    }
}

// This does not compile unless threads can share an analysis.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Analysis<'static>>();
};
