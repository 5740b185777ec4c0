//! The results of an analysis, which renderers read.

use std::borrow::Cow;
use std::sync::OnceLock;

use gmon::Profile;

use super::blocks::Blocks;
use super::clock::Clock;
use super::counts::Count;
use super::errors::Errors;
use super::graph::{Graph, Node};
use super::index::IndexEntry;
use super::limit::LeftOut;
use super::line_times::LineTimes;
use super::name_style::NameStyle;
use super::rows::{CallTimeUnit, FlatProfile, FlatRow};
use super::selection::Selections;
use super::stats::{FlatSums, Stats};
use crate::cli::options::{Options, Wanted};
use crate::image::address_space::{Images, Mapping};
use crate::load::outside::OutsideImages;
use crate::load::profile_file::FileInfo;
use crate::symbols::functions::{FunctionId, Functions};
use crate::symbols::inlines::InlineStacks;
use crate::symbols::sources::Sources;

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
    /// Whether the symbol table marks the symbol as a function. Labels in assembly code may not be marked; their calls count
    /// for the marked function before them.
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
/// [`Analysis::entries`] and [`Analysis::entry`] the call graph. Expensive parts (the lines of entries, statistics, source
/// locations) are computed when they are asked for. Threads can share an analysis.
#[derive(Debug)]
pub struct Analysis<'data> {
    /// The functions of all images.
    pub(crate) functions: Functions<'data>,
    /// The images, in the order of [`Functions::image`].
    pub(crate) images: Vec<Mapping>,
    /// How reports spell the names of functions.
    pub(crate) names: NameStyle,
    /// The unit of the samples.
    pub(crate) clock: Clock,
    /// The flat profile.
    pub(crate) flat: FlatProfile<'data>,
    /// The call graph.
    pub(crate) calls: CallGraph<'data>,
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
    /// The object files in an order for linkers.
    pub(crate) file_order: Vec<&'data [u8]>,
    /// The standard errors of self times, if a report shows them.
    pub(crate) errors: Errors,
    /// What the user asked for.
    pub(crate) options: &'data Options,
    /// The reports to write.
    pub(crate) wanted: Wanted,
    /// The contents of each profile.
    pub(crate) files: &'data [FileInfo],
    /// What the parts that are computed on demand need.
    pub(super) on_demand: OnDemand<'data>,
}

/// The parts of an analysis that are computed when a renderer asks for them, with their inputs.
pub(super) struct OnDemand<'data> {
    pub(super) profile: &'data Profile,
    pub(super) parsed_images: &'data Images<'data>,
    pub(super) flat_sums: FlatSums,
    pub(super) outside_images: OutsideImages,
    pub(super) stats: OnceLock<Stats>,
    /// The source locations of all functions. Not used where [`Analysis::sources`] has them.
    pub(super) sources: OnceLock<Sources>,
}

impl std::fmt::Debug for OnDemand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnDemand").field("stats", &self.stats).field("sources", &self.sources).finish_non_exhaustive()
    }
}

impl<'data> Analysis<'data> {
    /// Returns the images: the program and the shared objects.
    #[must_use]
    pub fn images(&self) -> &[Mapping] {
        &self.images
    }

    /// Returns the contents of each profile: profiles of the images that the options name come first, profiles of shared
    /// objects follow.
    #[must_use]
    pub fn files(&self) -> &'data [FileInfo] {
        self.files
    }

    /// Returns the unit of the samples.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns all functions, in the order of their addresses. With [`Options::by_line`], each line of a function is a
    /// function, too.
    pub fn functions(&self) -> impl DoubleEndedIterator<Item = FunctionId> + use<> {
        self.functions.ids()
    }

    /// Returns the symbol and the code of a function.
    ///
    /// # Panics
    ///
    /// If the analysis has no such function.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> FunctionInfo<'_> {
        let function = &self.functions[id];
        FunctionInfo {
            symbol: function.name,
            image: self.functions.image(id),
            address: self.functions.linked(id, function.address),
            // In a damaged image the last function may end before it begins.
            size: function.last.checked_sub(function.address).map_or(0, |size| size.saturating_add(1)),
            is_local: function.is_static,
            is_marked: self.functions.is_marked(id),
        }
    }

    /// Returns the source line in which a function begins, if the debug information tells the line. The first call may
    /// read the line tables of all images.
    #[must_use]
    pub fn source_location(&self, id: FunctionId) -> Option<SourceLocation<'_>> {
        let sources = if self.options.needs_sources(self.wanted) {
            &self.sources
        } else if self.options.symbols.is_some() {
            // Symbols of a file (-S) come without source files.
            return None;
        } else {
            let look_up = || Sources::of_images(&self.functions, self.on_demand.parsed_images);
            self.on_demand.sources.get_or_init(look_up)
        };
        let place = sources.place(id)?;
        Some(SourceLocation { file: sources.name(place.file, true), line: place.line })
    }

    /// Returns whether the flat profile is among the reports that the options ask for.
    #[must_use]
    pub fn wants_flat_profile(&self) -> bool {
        self.wanted.flat
    }

    /// Returns whether the call graph is among the reports that the options ask for.
    #[must_use]
    pub fn wants_call_graph(&self) -> bool {
        self.wanted.graph
    }

    /// Returns the rows of the flat profile, the longest self time first.
    pub fn flat_rows(&self) -> impl Iterator<Item = FlatRow<'data>> {
        self.flat.numbered(self.clock.rate).map(|(_, row)| row)
    }

    /// Returns the functions that were not called and took no time, unless [`Options::unused`] adds them to
    /// [`Analysis::flat_rows`].
    pub fn unused_functions(&self) -> impl Iterator<Item = FunctionId> {
        self.flat.unused.iter().map(|row| row.function)
    }

    /// Returns the unit of the times for each call in the flat profile.
    #[must_use]
    pub fn call_unit(&self) -> CallTimeUnit {
        self.flat.unit
    }

    /// Returns the number of samples that are 100 percent in the flat profile.
    #[must_use]
    pub fn flat_samples(&self) -> f64 {
        self.flat.total
    }

    /// Returns the functions and cycles that have entries in the call graph, in the order of the report.
    /// [`Analysis::entry`] returns the lines of an entry. Nothing has an entry if the flat profile is the only report that
    /// the options ask for.
    pub fn entries(&self) -> impl Iterator<Item = Node> {
        self.calls.entries.iter().copied()
    }

    /// Returns all functions and cycles that the options do not exclude, in the order of [`Analysis::entries`]: also those
    /// beyond a limit, and those that were not called and took no time.
    pub fn all_entries(&self) -> impl Iterator<Item = Node> {
        self.calls.all_entries.iter().copied()
    }

    /// Returns the number of a function or cycle in the call graph, and whether the report has an entry of this number.
    #[must_use]
    pub fn entry_number(&self, node: Node) -> (u32, bool) {
        let rank = self.calls.graph.rank(node);
        (rank, self.calls.graph.node_share(node).shown && rank <= self.calls.last_rank)
    }

    /// Returns the time of a function or cycle with all that it called, as a percentage of the time in the call graph.
    #[must_use]
    pub fn percent(&self, node: Node) -> f64 {
        self.calls.graph.percent(node)
    }

    /// Returns the index of the cycle that a function is a member of.
    #[must_use]
    pub fn cycle_of(&self, id: FunctionId) -> Option<usize> {
        self.calls.graph.cycle_of(id)
    }

    /// Returns the number of samples that are 100 percent in the call graph.
    #[must_use]
    pub fn graph_samples(&self) -> f64 {
        self.calls.graph.total()
    }

    /// Returns how much of the profiles the reports account for.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        let OnDemand { profile, flat_sums, outside_images, stats, .. } = &self.on_demand;
        stats.get_or_init(|| Stats::new(profile, &self.functions, *flat_sums, *outside_images))
    }

    /// Returns a symbol or a path of the input as a report should write it: all but the first bytes of long texts are cut
    /// once the report has many long texts, so that a small hostile image cannot ask for terabytes of output.
    /// [`Analysis::name`] and the other methods that return names do so themselves.
    #[must_use]
    pub fn shortened<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        self.functions.written(text.into())
    }
}

// This does not compile unless threads can share an analysis.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Analysis<'static>>();
};
