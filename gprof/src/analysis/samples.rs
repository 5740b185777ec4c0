//! The methods of an analysis that make trees of the samples.

use std::borrow::Cow;

use super::context_rows::own;
use super::contexts::pairs;
use super::contexts::sums::StackSums;
use super::model::Analysis;
use super::sample_tree::{SamplePlace, SampleTree};
use super::selection::Selections;
use super::stack_tree::StackTree;
use crate::cli::options::{Choice, Subject};
use crate::symbols::functions::FunctionId;

impl<'data> Analysis<'data> {
    /// Returns the tree of calling contexts, if there are stacks and the user wants times from stacks. The first call makes
    /// the tree.
    pub(super) fn stack_tree(&self) -> Option<&StackTree<'data>> {
        let make = || {
            let input = self.on_demand.stacks.as_ref().filter(|_| self.options.measures_times())?;
            let images = self.options.inlines.then_some(self.on_demand.parsed_images);
            let (contexts, inlined) = input.contexts(&self.functions, images);
            let sums = StackSums::new(input.stacks, &contexts);
            let Selections { time, arcs, .. } = &self.selections;
            let contexts = pairs::without_excluded(contexts, &self.functions, time, arcs);
            Some(StackTree { own: own(&contexts, &self.selections), contexts, inlined, sums })
        };
        self.on_demand.stack_tree.get_or_init(make).as_ref()
    }

    /// Returns whether the options leave out no time and no arc.
    pub(super) fn is_of_whole_program(&self) -> bool {
        let keeps_all = |choice: &Choice| match choice.subject {
            Subject::Time | Subject::Arcs => false,
            // Estimates start from the times of the flat profile. Stacks do not.
            Subject::Flat => self.stack_tree().is_some(),
            Subject::Graph | Subject::Counts | Subject::Source | Subject::Callers => true,
        };
        self.options.choices.iter().all(keeps_all)
    }

    /// Returns the samples as a tree of frames. The first call makes the tree.
    pub fn sample_tree(&self) -> &SampleTree<'data> {
        self.on_demand.sample_tree.get_or_init(|| match self.stack_tree() {
            Some(tree) => SampleTree::of_stacks(tree, self.is_of_whole_program()),
            None => SampleTree::flat(self.self_times().into_iter()),
        })
    }

    /// The self times of all functions, and of other code if the options leave out nothing; the longest first.
    fn self_times(&self) -> Vec<(SamplePlace<'data>, f64)> {
        let graph = &self.call_graph.graph;
        let of_function = |id: FunctionId| (SamplePlace::Function(id), graph.share(id).own);
        let mut times: Vec<_> = self.functions.ids().map(of_function).filter(|(_, time)| *time > 0.0).collect();
        if self.is_of_whole_program() {
            let (stats, images) = (self.stats(), self.stats().outside_images);
            let outside = images.vdso as f64 + images.elsewhere as f64;
            times.push((SamplePlace::Outside, stats.outside + outside));
            times.push((SamplePlace::Kernel, images.kernel as f64));
        }
        times.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        times
    }

    /// Returns the name of a frame. Code without a function has a name in angle brackets.
    #[must_use]
    pub fn place_name(&self, place: SamplePlace<'_>) -> Cow<'_, [u8]> {
        match place {
            SamplePlace::Function(id) => self.name_with_location(id),
            SamplePlace::Inlined(symbol) => Cow::Owned([&self.inlined_name(symbol), &b" [inlined]"[..]].concat()),
            SamplePlace::Kernel => Cow::Borrowed(b"<kernel>"),
            SamplePlace::Outside => Cow::Borrowed(b"<outside>"),
            SamplePlace::Cut(reason) => Analysis::cut_name(reason),
            SamplePlace::WithoutStack => Cow::Borrowed(b"<no stack>"),
            SamplePlace::LeftOut => Cow::Borrowed(b"<frames left out>"),
        }
    }
}
