//! The methods of an analysis that make trees of the samples.

use std::borrow::Cow;

use super::analysis::Analysis;
use super::context_rows::own;
use super::contexts::ranges;
use super::contexts::ticks::StackSums;
use super::input::StackInput;
use super::names::Named;
use super::sample_tree::SamplePlace;
use super::sample_trees::SampleTrees;
use super::selection::Selections;
use super::stack_tree::StackTree;
use super::thread_ticks::NamedContexts;
use crate::program::symbols::functions::FunctionId;
use crate::question::options::{Choice, Subject};
use crate::sources::stacks::Thread;

impl<'data> Analysis<'data> {
    /// Returns the tree of calling contexts, if there are stacks and the user wants times from stacks. The first call
    /// makes the tree.
    pub(super) fn stack_tree(&self) -> Option<&StackTree<'data>> {
        let make = || {
            let input = self.measured_stacks()?;
            let images = self.options.inlines.then_some(self.parsed_images);
            let (contexts, inlined) = input.contexts(&self.functions, images);
            let sums = StackSums::new(input.stacks, &contexts);
            Some(self.selected((contexts, inlined), None, sums))
        };
        self.parts.stack_tree.get_or_init(make).as_ref()
    }

    /// The stacks, if there are any and the user wants times from stacks.
    pub(super) fn measured_stacks(&self) -> Option<&StackInput<'data>> {
        self.stack_input.as_ref().filter(|_| self.options.measures_times())
    }

    /// Leaves out of a tree of contexts what the user leaves out.
    fn selected(
        &self,
        (contexts, inlined): NamedContexts<'data>,
        thread: Option<&'data Thread>,
        sums: StackSums,
    ) -> StackTree<'data> {
        let Selections { time, arcs, .. } = &self.selections;
        let contexts = ranges::without_excluded(contexts, &self.functions, time, arcs);
        StackTree { thread, own: own(&contexts, &self.selections), contexts, inlined, sums }
    }

    /// Returns the trees of calling contexts of each thread and of no thread, if the runs counted by thread. The first
    /// call makes the trees.
    pub(super) fn thread_trees(&self) -> &[StackTree<'data>] {
        let make = || {
            let (Some(input), Some(StackTree { sums, .. })) = (self.measured_stacks(), self.stack_tree()) else {
                return Vec::new();
            };
            let images = self.options.inlines.then_some(self.parsed_images);
            let trees = input.contexts_by_thread(&self.functions, images).into_iter();
            trees.map(|(thread, tree)| self.selected(tree, thread, *sums)).collect()
        };
        self.parts.thread_trees.get_or_init(make)
    }

    /// Returns whether the options leave out no time and no arc.
    pub(super) fn is_of_whole_program(&self) -> bool {
        let keeps_all = |choice: &Choice| match choice.subject {
            Subject::Time | Subject::Arcs => false,
            Subject::Focus | Subject::Ignored | Subject::Hidden | Subject::Start => false,
            // Estimates start from the times of the flat profile. Stacks do not.
            Subject::Flat => self.stack_tree().is_some(),
            Subject::Graph | Subject::Counts | Subject::Source | Subject::Callers => true,
        };
        self.options.choices.iter().all(keeps_all)
    }

    /// Returns whether the times of threads are known: whether the runs counted by thread and the times are measured.
    #[must_use]
    pub fn has_threads(&self) -> bool {
        self.measured_stacks().is_some_and(|input| !input.stacks.threads().is_empty())
    }

    /// Returns the samples as trees of frames: one for each thread if the runs counted by thread, otherwise one. The
    /// first call makes the trees.
    pub fn sample_trees(&self) -> &SampleTrees<'data> {
        self.parts.sample_trees.get_or_init(|| match (self.stack_tree(), self.thread_trees()) {
            (Some(tree), []) => SampleTrees::of_stacks(std::slice::from_ref(tree), false, self.is_of_whole_program()),
            (Some(_), trees) => SampleTrees::of_stacks(trees, true, self.is_of_whole_program()),
            (None, _) => SampleTrees::flat(self.self_times().into_iter()),
        })
    }

    /// The self times of all functions, and of other code if the options leave out nothing; the longest first.
    fn self_times(&self) -> Vec<(SamplePlace<'data>, f64)> {
        let graph = self.graph();
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
        self.spelled(match place {
            SamplePlace::Function(id) => Named::Located(id),
            SamplePlace::Inlined(symbol) => Named::Inlined(symbol),
            SamplePlace::Kernel => Named::Kernel,
            SamplePlace::Outside => Named::Outside,
            SamplePlace::Cut(reason) => Named::Cut(reason),
            SamplePlace::WithoutStack => Named::WithoutStack,
            SamplePlace::LeftOut => Named::LeftOut("<frames left out>"),
        })
    }
}
