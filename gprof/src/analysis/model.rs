//! The results of an analysis, which renderers read.

use super::blocks::Blocks;
use super::clock::Clock;
use super::counts::Count;
use super::errors::Errors;
use super::graph::{Graph, Node};
use super::index::IndexEntry;
use super::limit::LeftOut;
use super::line_times::LineTimes;
use super::name_style::NameStyle;
use super::rows::{FlatProfile, FlatRow, RowNumbers};
use super::selection::Selections;
use super::stats::Stats;
use crate::cli::options::{Options, Wanted};
use crate::image::address_space::Mapping;
use crate::load::profile_file::FileInfo;
use crate::symbols::functions::{FunctionId, Functions};
use crate::symbols::inlines::InlineStacks;
use crate::symbols::sources::Sources;

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

impl<'data> Analysis<'data> {
    /// The rows of the flat profile that are shown, with their numbers.
    pub fn flat_rows(&self) -> impl Iterator<Item = (&FlatRow<'data>, RowNumbers)> {
        self.flat.numbered(self.clock.rate)
    }
}

// Threads may share an analysis: this does not compile otherwise.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Analysis<'static>>();
};
