//! The inputs of an analysis, and the first steps with these inputs.

use std::borrow::Cow;

use gmon::{Arc, Block, Profile};

use super::blocks::Blocks;
use super::contexts::build::InlinedAt;
use super::contexts::call_sites::{CallSites, TailCalls};
use super::contexts::measured::{Measured, StackSelection};
use super::contexts::ticks::StackSums;
use super::contexts::tree::Contexts;
use super::cut_stacks::CutStacks;
use super::division::Innermost;
use super::errors::Errors;
use super::flat::Flat;
use super::graph::Graph;
use super::graph::arcs::Arcs;
use super::graph::propagate::GraphSelection;
use super::line_times::LineTimes;
use super::selection::Selections;
use super::{contexts, static_calls};
use crate::program::image::ProgramCode;
use crate::program::image::address_space::Images;
use crate::program::symbols::file_map::ObjectFiles;
use crate::program::symbols::functions::Functions;
use crate::program::symbols::inlines::{InlineStacks, Inlined, InlinedCode};
use crate::program::symbols::sources::{FileNames, Sources};
use crate::question::options::Options;
use crate::question::reports::{BOUNDS, Wanted};
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::SideInfo;
use crate::sources::side_sum::Conservation;
use crate::sources::stacks::Stacks;
use crate::sources::{Loaded, OutsideImages};

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
    /// The contents of the side files.
    pub(super) side_files: &'data [SideInfo],
    /// The machine code, if the user wants bounds.
    pub(super) code: Option<ProgramCode<'data>>,
    /// The samples of stacks by address, if the bins are divided exactly.
    pub(super) innermost: Innermost,
    /// The samples of the runs whose CPU time is known, and this time.
    pub(super) conservation: &'data Conservation,
    /// Why profiles may not belong to their images.
    pub(super) mismatches: &'data [String],
    /// The stacks of the samples, if there are any.
    pub(super) stacks: Option<StackInput<'data>>,
}

/// The stacks, with the code that explains them.
pub(super) struct StackInput<'data> {
    pub(super) stacks: &'data Stacks,
    pub(super) code: ProgramCode<'data>,
    /// The calls of all threads: those of the profile, or more.
    pub(super) all_calls: &'data [Arc],
}

impl<'data> StackInput<'data> {
    pub(super) fn sites<'a, 's>(&'a self, functions: &'a Functions<'s>) -> CallSites<'a, 's> {
        CallSites::new(self.all_calls, functions, self.code.clone())
    }

    /// Returns the tree of calling contexts, and the names of inlined functions in it: those of the images, if any are
    /// given.
    pub(super) fn contexts(
        &self,
        functions: &Functions<'_>,
        images: Option<&'data Images<'data>>,
    ) -> (Contexts, Vec<&'data [u8]>) {
        let code = images.map(InlinedCode::new);
        let inlined_at = code.as_ref().map(|code| |address: u64| code.at(address));
        let inlined_at = inlined_at.as_ref().map(|find| find as &InlinedAt<'_, 'data>);
        contexts::build::with_inlined(self.stacks, functions, &self.sites(functions), inlined_at)
    }
}

impl<'data> Input<'data> {
    /// Takes what was loaded, without source lines and inlined functions.
    pub(super) fn new(
        loaded: &'data Loaded,
        options: &'data Options,
        wanted: Wanted,
        selections: Selections,
    ) -> Input<'data> {
        let images = loaded.images();
        let all_calls = loaded.all_calls();
        Input {
            profile: loaded.profile(),
            images,
            file_names: FileNames::new(images),
            object_files: None,
            sources: Sources::default(),
            selections,
            inlined: None,
            inline_stacks: InlineStacks::new(),
            line_times: LineTimes::default(),
            outside_images: loaded.outside_images(),
            options,
            files: loaded.files(),
            side_files: loaded.side_files(),
            code: wanted.has(BOUNDS).then(|| loaded.code()),
            wanted,
            innermost: Innermost::of(loaded, options),
            conservation: loaded.conservation(),
            mismatches: loaded.mismatches(),
            stacks: loaded.stacks().map(|stacks| StackInput { stacks, code: loaded.code(), all_calls }),
        }
    }

    /// Divides the samples among the functions.
    pub(super) fn flat(&self, functions: &Functions<'_>) -> Flat {
        let (histograms, selected) = (self.profile.histograms(), &self.selections.flat);
        match self.options.rules.divides_bins_exactly {
            true => Flat::exact(histograms, &self.innermost, functions, selected),
            false => Flat::new(histograms, functions, selected),
        }
    }

    /// Whether the times of called functions are those that stacks show.
    pub(super) fn is_measured(&self) -> bool {
        self.stacks.is_some() && self.options.measures_times()
    }

    /// Adds up the times that the stacks show, if there are stacks and the user wants these times.
    pub(super) fn measured(&self, functions: &Functions<'_>) -> Option<Measured> {
        let StackInput { stacks, .. } = self.stacks.as_ref().filter(|_| self.is_measured())?;
        let sites = self.sites(functions)?;
        let contexts = contexts::build::contexts(stacks, functions, &sites);
        let Selections { flat, time, arcs, .. } = &self.selections;
        let total = StackSums::new(stacks, &contexts);
        Some(Measured::new(contexts, functions, StackSelection { flat, time, arcs }, total))
    }

    /// Counts the samples whose stacks are not whole, if a report shows times from stacks.
    pub(super) fn cut_stacks(&self) -> Option<CutStacks> {
        let input = self.stacks.as_ref().filter(|_| self.is_measured() || self.wanted.shows().stacks)?;
        Some(CutStacks::new(input.stacks, &self.images.generated()))
    }

    /// Returns the call sites of the program, if there are stacks.
    fn sites<'a, 's>(&'a self, functions: &'a Functions<'s>) -> Option<CallSites<'a, 's>> {
        Some(self.stacks.as_ref()?.sites(functions))
    }

    /// Returns the arcs. Where times are measured, a function that was entered by a tail call has the caller that its
    /// stack shows.
    fn arcs(&self, functions: &Functions<'_>, is_measured: bool) -> Cow<'data, [Arc]> {
        match self.sites(functions).filter(|_| is_measured) {
            Some(sites) => self.profile.arcs().iter().map(|arc| sites.with_last_caller(arc)).collect(),
            None => Cow::Borrowed(self.profile.arcs()),
        }
    }

    /// Returns the tail calls that may have happened, if the user wants bounds.
    pub(super) fn tail_calls(&self, functions: &Functions<'_>) -> TailCalls {
        let calls =
            |code: &ProgramCode<'data>| CallSites::new(self.profile.arcs(), functions, code.clone()).tail_calls();
        self.code.as_ref().map(calls).unwrap_or_default()
    }

    /// Returns the tree of calling contexts, and the names of inlined functions in it, if the user wants a report about
    /// it.
    pub(super) fn contexts(&self, functions: &Functions<'_>) -> Option<(Contexts, Vec<&'data [u8]>)> {
        let input = self.stacks.as_ref().filter(|_| self.wanted.shows().stacks)?;
        Some(input.contexts(functions, self.options.inlines.then_some(self.images)))
    }

    /// Builds the call graph. Times are measured if there are stacks, and propagated otherwise.
    pub(super) fn graph(&self, functions: &Functions<'_>, flat: &Flat, measured: Option<&Measured>) -> Graph {
        let Input { profile, options, wanted, selections, .. } = self;
        let rules = options.rules;
        let mut more_arcs = if options.static_calls {
            let find = |(image, code)| {
                let histograms = self.images.histograms(image, profile);
                static_calls::find(&code, functions, histograms, rules.finds_all_static_calls)
            };
            // Where one image has samples, an image without samples has no calls.
            let has_samples = |image| !self.images.histograms(image, profile).is_empty();
            let images = self.images.code().enumerate();
            images.filter(|(image, _)| profile.histograms().is_empty() || has_samples(*image)).flat_map(find).collect()
        } else {
            Vec::new()
        };
        more_arcs.extend(measured.iter().flat_map(|measured| measured.arcs()));
        let arcs = Arcs::selected(
            &self.arcs(functions, measured.is_some()),
            functions,
            &selections.arcs,
            &more_arcs,
            rules.shows_outside,
        );
        let choices = GraphSelection {
            entries: &selections.graph,
            time: &selections.time,
            excludes_callees: rules.leaves_out_callees,
        };
        // The flat profile alone shows no rank.
        let is_ranked = !wanted.is_flat_alone() || options.traditional || options.errors;
        let graph = match measured {
            Some(measured) => Graph::measured(arcs, flat, functions, choices, measured),
            None => Graph::unranked(arcs, flat, functions, choices),
        };
        if is_ranked { graph.ranked(functions) } else { graph }
    }

    /// Finds the line of each basic block, for reports by line.
    pub(super) fn blocks(&self, functions: &Functions<'_>) -> Blocks {
        let blocks: &[Block] = if self.options.by_line { self.profile.blocks() } else { &[] };
        Blocks::new(blocks, functions, self.options.rules.most_blocks_of_line)
    }

    /// Computes standard errors, if the user wants these.
    pub(super) fn errors(&self, functions: &Functions<'_>, graph: &Graph, stacks: Option<&StackSums>) -> Errors {
        match self.options.computes_errors() {
            true => {
                let samples = (self.profile.histograms(), &self.innermost);
                let selected = &self.selections.flat;
                let errors = Errors::new(samples, functions, selected, graph, self.inlined.as_ref());
                errors.with_stacks(stacks)
            }
            false => Errors::default(),
        }
    }
}
