//! The parts of an analysis, each computed at its first use.

use std::borrow::Cow;

use gmon::Block;

use super::analysis::Analysis;
use super::blocks::Blocks;
use super::bound_rows::BoundsTable;
use super::context_rows::ContextTables;
use super::contexts;
use super::contexts::call_sites::{CallSites, TailCalls};
use super::contexts::measured::{Measured, StackSelection};
use super::contexts::ticks::StackSums;
use super::contexts::tree::Contexts;
use super::counts::{self, Count};
use super::cut_stacks::CutStacks;
use super::division::Innermost;
use super::errors::Errors;
use super::estimates::CallEstimates;
use super::flat::Flat;
use super::graph::arcs::Arcs;
use super::graph::propagate::GraphSelection;
use super::graph::{Graph, Node};
use super::index::{self, IndexEntry};
use super::input::StackInput;
use super::intermediate::Intermediate;
use super::limit::{self, LeftOut};
use super::linker_order::LinkerOrder;
use super::on_demand::OnDemandCounts;
use super::rows::{self, FlatProfile};
use super::selection::Selections;
use super::timed_graph::{Entries, TimedGraph};
use super::{estimated_calls, order, static_calls};
use crate::program::symbols::functions::FunctionId;
use crate::question::reports::{BOUNDS, COUNTS, FLAT, FUNCTION_ORDER, GRAPH, LINKER_ORDER};

impl<'data> Analysis<'data> {
    /// Computes what takes long and what the user wants, so that a run can tell its progress before it writes.
    pub(super) fn compute_wanted(&self) {
        if self.wanted.has(FLAT) {
            self.flat_profile();
        }
        if self.wanted.has(GRAPH) || self.wanted.exports {
            self.graph_entries();
            self.index();
        }
        let _ = self.bounds();
        self.context_tables();
    }

    /// Returns the samples of stacks by address, unless the reports divide bins as GNU does, which knows no stacks.
    pub(super) fn innermost(&self) -> &Innermost {
        let stacks = || self.stack_input.as_ref().map(|input| input.stacks);
        let make = || Innermost::new(stacks().filter(|_| self.options.rules.divides_bins_exactly));
        self.parts.innermost.get_or_init(make)
    }

    /// Returns the self times of all functions.
    pub(super) fn flat(&self) -> &Flat {
        let (histograms, selected) = (self.profile.histograms(), &self.selections.flat);
        self.parts.flat.get_or_init(|| match self.options.rules.divides_bins_exactly {
            true => Flat::exact(histograms, self.innermost(), &self.functions, selected),
            false => Flat::new(histograms, &self.functions, selected),
        })
    }

    /// Returns the call graph. Times are measured if there are stacks, and propagated otherwise.
    pub(crate) fn graph(&self) -> &Graph {
        &self.timed_graph().graph
    }

    /// Returns how much of the samples has stacks, if the times of called functions were measured from stacks. Without
    /// stacks, or with [`Options::propagate`](crate::Options::propagate), these times are estimates.
    #[must_use]
    pub fn stacks(&self) -> Option<&StackSums> {
        // Without stacks, the answer needs no call graph.
        if self.is_measured() { self.timed_graph().stacks.as_ref() } else { None }
    }

    /// Returns what was counted on demand for each function, unless calls were counted during the whole time.
    pub(super) fn on_demand_counts(&self) -> Option<&OnDemandCounts> {
        let make = || {
            let on_demand = self.loaded.on_demand().filter(|on_demand| !on_demand.facts.is_whole)?;
            let (functions, innermost, selected) = (&self.functions, self.innermost(), &self.selections.flat);
            let inlined = self.inlined.as_ref().filter(|inlined| !inlined.is_empty());
            Some(OnDemandCounts::new(on_demand, functions, innermost, selected, inlined, self.options))
        };
        self.parts.on_demand_counts.get_or_init(make).as_ref()
    }

    /// Returns the rows of the flat profile.
    pub(crate) fn flat_profile(&self) -> &FlatProfile<'data> {
        self.parts.flat_profile.get_or_init(|| rows::flat_profile(&self.intermediate(), self.errors()))
    }

    /// Returns the standard errors; empty if the user does not want these.
    pub(super) fn errors(&self) -> &Errors {
        self.parts.errors.get_or_init(|| {
            if !self.options.computes_errors() {
                return Errors::default();
            }
            let samples = (self.profile.histograms(), self.innermost());
            let selected = &self.selections.flat;
            let errors = Errors::new(samples, &self.functions, selected, self.graph(), self.inlined.as_ref());
            errors.with_stacks(self.stacks())
        })
    }

    /// Returns the functions and cycles that have entries in the call graph.
    pub(crate) fn graph_entries(&self) -> &Entries {
        self.parts.entries.get_or_init(|| {
            let graph = self.graph();
            let may_have_entry = |node: &Node| index::may_have_entry(*node, graph, &self.functions, self.options);
            let all: Vec<Node> = graph.ranking.iter().copied().filter(may_have_entry).collect();
            let is_shown = |node: &Node| self.options.unused || graph.is_used(*node);
            let mut shown: Vec<Node> = all.iter().copied().filter(is_shown).collect();
            // A cycle may have most functions of a program. Nobody reads so long a table, and no program reads a table.
            let keeps_members = !self.options.has_limit_of_tables();
            let (left_out, last_rank) = limit::entries(&mut shown, graph, self.options.row_limit(), keeps_members);
            // The footer does not mention a report that the user does not want.
            let left_out = if self.wanted.has(GRAPH) { left_out } else { LeftOut::default() };
            Entries { all, shown, last_rank, left_out }
        })
    }

    /// Returns the index of the call graph, in the order of names; empty if the user does not want the call graph.
    pub(crate) fn index(&self) -> &[IndexEntry<'data>] {
        self.parts.index.get_or_init(|| match self.wanted.has(GRAPH) {
            true => index::index(&self.intermediate(), self.graph_entries().last_rank),
            false => Vec::new(),
        })
    }

    /// Returns the counts of basic blocks by line, for reports by line.
    pub(crate) fn blocks(&self) -> &Blocks {
        self.parts.blocks.get_or_init(|| {
            let blocks: &[Block] = if self.options.by_line { self.profile.blocks() } else { &[] };
            Blocks::new(blocks, &self.functions, self.options.rules.most_blocks_of_line)
        })
    }

    /// Returns the samples whose stacks are not whole, by reason, if a report shows times from stacks, as
    /// [`Analysis::stacks_of_reports`].
    #[must_use]
    pub fn cut_stacks(&self) -> Option<&CutStacks> {
        let is_shown = || self.is_measured() || self.wanted.shows().stacks;
        let make = || {
            self.stack_input
                .as_ref()
                .filter(|_| is_shown())
                .map(|input| CutStacks::new(input.stacks, self.parsed_images.generated()))
        };
        self.parts.cut_stacks.get_or_init(make).as_ref()
    }

    /// Returns the bounds of inclusive times, if the options ask for them
    /// ([`Options::bounds`](crate::Options::bounds)).
    #[must_use]
    pub fn bounds(&self) -> Option<&BoundsTable> {
        let make = || self.wanted.has(BOUNDS).then(|| BoundsTable::new(&self.intermediate(), &self.tail_calls()));
        self.parts.bounds.get_or_init(make).as_ref()
    }

    /// Returns the calling contexts and the callers, as far as the user wants these.
    pub(super) fn context_tables(&self) -> &ContextTables<'data> {
        let make = || {
            let contexts = self.contexts_of_reports();
            contexts.map_or_else(ContextTables::default, |contexts| ContextTables::new(&self.intermediate(), contexts))
        };
        self.parts.context_tables.get_or_init(make)
    }

    /// Returns the list of execution counts; empty if the user does not want the list.
    pub(crate) fn counts(&self) -> &[Count] {
        let make =
            || if self.wanted.has(COUNTS) { counts::counts(&self.intermediate(), self.blocks()) } else { Vec::new() };
        self.parts.counts.get_or_init(make)
    }

    /// Returns the functions in an order for linkers; no functions if the user does not want the order.
    pub(crate) fn order(&self) -> &[FunctionId] {
        let counts_for = |id: FunctionId| self.functions[id].counts_for;
        self.parts.order.get_or_init(|| match self.wanted.has(FUNCTION_ORDER) {
            true => order::order(self.functions.ids(), counts_for, self.graph()),
            false => Vec::new(),
        })
    }

    /// Returns the functions that ran and their calls, for linkers that take files of orders; nothing if the user does
    /// not want such an order.
    pub(crate) fn linker_order(&self) -> &LinkerOrder {
        self.parts.linker_order.get_or_init(|| match self.wanted.has(LINKER_ORDER) {
            true => LinkerOrder::new(&self.functions, self.flat(), self.graph()),
            false => LinkerOrder::default(),
        })
    }

    /// Returns the object files in an order for linkers, if the user has a map of these.
    pub(crate) fn file_order(&self) -> &[&'data [u8]] {
        let order = |files| order::files(&self.functions, self.graph(), files);
        self.parts.file_order.get_or_init(|| self.object_files.as_ref().map_or_else(Vec::new, order))
    }

    /// Returns whether the times of called functions are those that stacks show.
    pub(super) fn is_measured(&self) -> bool {
        self.measured_stacks().is_some()
    }

    /// Returns the tail calls that may have happened.
    fn tail_calls(&self) -> TailCalls {
        CallSites::new(self.profile.arcs(), &self.functions, self.loaded.code()).tail_calls()
    }

    /// Returns the tree of calling contexts, and the names of inlined functions in it, if the user wants a report about
    /// it.
    fn contexts_of_reports(&self) -> Option<(Contexts, Vec<&'data [u8]>)> {
        let input = self.stack_input.as_ref().filter(|_| self.wanted.shows().stacks)?;
        Some(input.contexts(&self.functions, self.options.inlines.then_some(self.parsed_images)))
    }

    fn intermediate(&self) -> Intermediate<'_, 'data> {
        Intermediate {
            functions: &self.functions,
            flat: self.flat(),
            graph: self.graph(),
            on_demand_counts: self.on_demand_counts(),
            innermost: self.innermost(),
            rate: self.clock.rate,
            profile: self.profile,
            images: self.parsed_images,
            stacks: self.stack_input.as_ref(),
            is_measured: self.is_measured(),
            sources: &self.sources,
            inlined: self.inlined.as_ref(),
            selections: &self.selections,
            options: self.options,
            wanted: &self.wanted,
        }
    }

    fn timed_graph(&self) -> &TimedGraph {
        self.parts.graph.get_or_init(|| {
            let measured = self.measured();
            let graph = self.graph_of(measured.as_ref());
            TimedGraph { graph, stacks: measured.map(|measured| measured.sums) }
        })
    }

    /// Adds up the times that the stacks show, if there are stacks and the user wants these times.
    fn measured(&self) -> Option<Measured> {
        let input = self.measured_stacks()?;
        let contexts = contexts::build::contexts(input.stacks, &self.functions, &input.sites(&self.functions));
        let Selections { flat, time, arcs, .. } = &self.selections;
        let total = StackSums::new(input.stacks, &contexts);
        Some(Measured::new(contexts, &self.functions, StackSelection { flat, time, arcs }, total))
    }

    /// Returns the arcs. Where times are measured, a function that was entered by a tail call has the caller that its
    /// stack shows.
    fn arcs(&self) -> Cow<'data, [gmon::Arc]> {
        let arcs = self.profile.arcs();
        match self.measured_stacks().map(|input: &StackInput<'_>| input.sites(&self.functions)) {
            Some(sites) => arcs.iter().map(|arc| sites.with_last_caller(arc)).collect(),
            None => Cow::Borrowed(arcs),
        }
    }

    /// Finds the functions of the calls that were estimated.
    fn estimates(&self) -> CallEstimates {
        let Some(found) = self.loaded.on_demand().and_then(|on_demand| on_demand.estimates.as_ref()) else {
            return CallEstimates::default();
        };
        let sites = self.measured_stacks().map(|input: &StackInput<'_>| input.sites(&self.functions));
        let last_caller =
            |arc: &gmon::Arc| sites.as_ref().map_or(*arc, |sites: &CallSites<'_, '_>| sites.with_last_caller(arc));
        estimated_calls::estimates(found, &self.functions, &last_caller, &self.selections.arcs)
    }

    fn graph_of(&self, measured: Option<&Measured>) -> Graph {
        let Analysis { profile, options, wanted, selections, functions, parsed_images, .. } = self;
        let rules = options.rules;
        let mut more_arcs = if options.static_calls {
            let find = |(image, code)| {
                let histograms = parsed_images.histograms(image, profile);
                static_calls::find(&code, functions, histograms, rules.finds_all_static_calls)
            };
            // Where one image has samples, an image without samples has no calls.
            let has_samples = |image| !parsed_images.histograms(image, profile).is_empty();
            let images = parsed_images.code().enumerate();
            images.filter(|(image, _)| profile.histograms().is_empty() || has_samples(*image)).flat_map(find).collect()
        } else {
            Vec::new()
        };
        more_arcs.extend(measured.iter().flat_map(|measured| measured.arcs()));
        let estimates = self.estimates();
        more_arcs.extend(estimates.arcs());
        let arcs = Arcs::selected(&self.arcs(), functions, &selections.arcs, &more_arcs, rules.shows_outside);
        let choices = GraphSelection {
            entries: &selections.graph,
            time: &selections.time,
            excludes_callees: rules.leaves_out_callees,
        };
        // The flat profile alone shows no rank.
        let is_ranked = !wanted.is_flat_alone() || options.traditional || options.errors;
        let graph = match measured {
            Some(measured) => Graph::measured(arcs, self.flat(), functions, choices, measured),
            None => Graph::unranked(arcs, self.flat(), functions, choices),
        };
        let graph = graph.with_estimates(estimates);
        if is_ranked { graph.ranked(functions) } else { graph }
    }
}
