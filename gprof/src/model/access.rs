//! The methods by which renderers read an analysis.

use std::borrow::Cow;

use super::analysis::{Analysis, FunctionInfo, SourceLocation};
use super::clock::Clock;
use super::context_rows::ContextTable;
use super::contexts::ticks::StackSums;
use super::estimates::CallEstimate;
use super::graph::Node;
use super::on_demand::CallsCounted;
use super::rows::{CallTimeUnit, FlatRow};
use super::stats::{FlatSums, Stats};
use crate::program::image::address_space::Mapping;
use crate::program::symbols::functions::FunctionId;
use crate::program::symbols::sources::Sources;
use crate::question::reports::{FLAT, GRAPH, THREADS};
use crate::sources::estimates::CallWindows;
use crate::sources::on_demand::CallsOnDemand;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::SideInfo;
use crate::sources::side_sum::Conservation;

impl<'data> Analysis<'data> {
    /// Returns the images: the program and the shared objects.
    #[must_use]
    pub fn images(&self) -> &[Mapping] {
        &self.images
    }

    /// Returns the contents of each profile: profiles of the images that the options name come first, profiles of
    /// shared objects follow.
    #[must_use]
    pub fn files(&self) -> &'data [FileInfo] {
        self.files
    }

    /// Returns the contents of the side files, for each program that ran.
    #[must_use]
    pub fn side_files(&self) -> &'data [SideInfo] {
        self.side_files
    }

    /// Returns the samples of the runs whose CPU time is known, and this time; `None` if no CPU time is known.
    #[must_use]
    pub fn conservation(&self) -> Option<&'data Conservation> {
        Some(self.loaded.conservation()).filter(|conservation| conservation.nanoseconds > 0)
    }

    /// Returns how long calls were counted, if they were counted on demand. `None` if all runs counted all calls.
    #[must_use]
    pub fn calls_on_demand(&self) -> Option<&'data CallsOnDemand> {
        self.loaded.on_demand().map(|on_demand| &on_demand.facts)
    }

    /// Returns when the calls of a function were counted.
    ///
    /// # Panics
    ///
    /// If the analysis has no such function.
    #[must_use]
    pub fn calls_counted(&self, id: FunctionId) -> CallsCounted {
        if self.has_estimates() && self.call_estimate(id).is_some() {
            return CallsCounted::Estimated;
        }
        self.on_demand_counts().map_or(CallsCounted::Always, |counts| counts.calls_of(id))
    }

    /// Returns the windows from which calls were estimated; `None` if no run estimated calls.
    #[must_use]
    pub fn call_windows(&self) -> Option<&'data CallWindows> {
        self.loaded.on_demand()?.estimates.as_ref().map(|estimates| &estimates.windows)
    }

    /// Returns the estimated calls of a function by other functions. `None` if the calls of the function were not to be
    /// estimated, or if some runs counted its calls: a count and an estimate cannot be added.
    ///
    /// # Panics
    ///
    /// If the analysis has no such function.
    #[must_use]
    pub fn call_estimate(&self, id: FunctionId) -> Option<CallEstimate> {
        self.graph().estimate(id)
    }

    /// Returns whether the reports have estimated calls.
    pub(crate) fn has_estimates(&self) -> bool {
        self.call_windows().is_some_and(|windows| !windows.are_left_out)
    }

    /// Returns whether calls are missing, because they were counted on demand, and not during the whole time.
    pub(crate) fn lacks_calls(&self) -> bool {
        self.calls_on_demand().is_some_and(|calls| !calls.is_whole)
    }

    /// Returns why profiles may not belong to their images, as [`Loaded::mismatches`](crate::Loaded::mismatches).
    #[must_use]
    pub fn mismatches(&self) -> &'data [String] {
        self.loaded.mismatches()
    }

    /// Returns the unit of the samples.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns all functions, in the order of their addresses. With [`Options::by_line`](crate::Options::by_line), each
    /// line of a function is a function, too.
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
        let sources = if self.options.needs_sources(&self.wanted) {
            &self.sources
        } else if self.options.symbols.is_some() {
            // Symbols of a file (-S) come without source files.
            return None;
        } else {
            let look_up = || Sources::of_images(&self.functions, self.parsed_images);
            self.parts.all_sources.get_or_init(look_up)
        };
        let place = sources.place(id)?;
        Some(SourceLocation { file: sources.name(place.file, true), line: place.line })
    }

    /// Returns whether the flat profile is among the reports that the options ask for.
    #[must_use]
    pub fn wants_flat_profile(&self) -> bool {
        self.wanted.has(FLAT)
    }

    /// Returns whether the list of threads is among the reports that the options ask for.
    #[must_use]
    pub fn wants_threads(&self) -> bool {
        self.wanted.has(THREADS)
    }

    /// Returns whether the call graph is among the reports that the options ask for.
    #[must_use]
    pub fn wants_call_graph(&self) -> bool {
        self.wanted.has(GRAPH)
    }

    /// Returns the rows of the flat profile, the longest self time first.
    pub fn flat_rows(&self) -> impl Iterator<Item = FlatRow<'data>> {
        let (graph, rate) = (self.graph(), self.clock.rate);
        self.flat_profile().numbered(rate).map(move |(_, row)| {
            let range = graph.inclusive_range(row.function).filter(|_| row.inlined.is_none());
            FlatRow { range: range.map(|(least, most)| (least / rate, most / rate)), ..row }
        })
    }

    /// Returns the functions that were not called and took no time, unless [`Options::unused`](crate::Options::unused)
    /// adds them to [`Analysis::flat_rows`].
    pub fn unused_functions(&self) -> impl Iterator<Item = FunctionId> {
        self.flat_profile().unused.iter().map(|row| row.function)
    }

    /// Returns the unit of the times for each call in the flat profile.
    #[must_use]
    pub fn call_unit(&self) -> CallTimeUnit {
        self.flat_profile().unit
    }

    /// Returns the number of samples that are 100 percent in the flat profile.
    #[must_use]
    pub fn flat_samples(&self) -> f64 {
        self.flat().total
    }

    /// Returns the tree of calling contexts, if the options ask for it
    /// ([`Options::contexts`](crate::Options::contexts)).
    #[must_use]
    pub fn contexts(&self) -> Option<&ContextTable<'data>> {
        self.context_tables().contexts.as_ref()
    }

    /// Returns the callers of chosen functions, if the options ask for them
    /// ([`Options::add_callers`](crate::Options::add_callers)).
    #[must_use]
    pub fn callers(&self) -> Option<&ContextTable<'data>> {
        self.context_tables().callers.as_ref()
    }

    /// Returns how much of the samples has stacks, if a report shows times from stacks: the call graph, the flat
    /// profile, or a tree of calling contexts or of callers. These trees show such times with
    /// [`Options::propagate`](crate::Options::propagate), too.
    #[must_use]
    pub fn stacks_of_reports(&self) -> Option<&StackSums> {
        self.stacks().or(self.context_tables().sums.as_ref())
    }

    /// Returns the functions and cycles that have entries in the call graph, in the order of the report.
    /// [`Analysis::entry`] returns the lines of an entry. Nothing has an entry if the flat profile is the only report
    /// that the options ask for.
    pub fn entries(&self) -> impl Iterator<Item = Node> {
        self.graph_entries().shown.iter().copied()
    }

    /// Returns all functions and cycles that the options do not exclude, in the order of [`Analysis::entries`]: also
    /// those beyond a limit, and those that were not called and took no time.
    pub fn all_entries(&self) -> impl Iterator<Item = Node> {
        self.graph_entries().all.iter().copied()
    }

    /// Returns the number of a function or cycle in the call graph, and whether the report has an entry of this number.
    #[must_use]
    pub fn entry_number(&self, node: Node) -> (u32, bool) {
        let rank = self.graph().rank(node);
        (rank, self.graph().node_share(node).shown && rank <= self.graph_entries().last_rank)
    }

    /// Returns the time of a function or cycle with all that it called, as a percentage of the time in the call graph.
    #[must_use]
    pub fn percent(&self, node: Node) -> f64 {
        self.graph().percent(node)
    }

    /// Returns the index of the cycle that a function is a member of.
    #[must_use]
    pub fn cycle_of(&self, id: FunctionId) -> Option<usize> {
        self.graph().cycle_of(id)
    }

    /// Returns the number of samples that are 100 percent in the call graph.
    #[must_use]
    pub fn graph_samples(&self) -> f64 {
        self.graph().total()
    }

    /// Returns whether tail calls leave a doubt about the measured time of any function or call.
    #[must_use]
    pub fn has_doubts(&self) -> bool {
        self.graph().has_ranges()
    }

    /// Returns how much of the profiles the reports account for.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        self.parts.stats.get_or_init(|| {
            let (sums, outside) = (FlatSums::new(self.flat()), self.loaded.outside_images());
            let missing = self.innermost().missing_in(self.profile.histograms());
            Stats::new(self.profile, self.graph().call_sums(), sums, outside).with_missing(missing)
        })
    }

    /// Returns a symbol or a path of the input as a report should write it: all but the first bytes of long texts are
    /// cut once the report has many long texts, so that a small hostile image cannot ask for terabytes of output.
    /// [`Analysis::name`] and the other methods that return names do so themselves.
    #[must_use]
    pub fn shortened<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        self.functions.written(text.into())
    }
}
