//! The tree of calling contexts with its samples, for pictures and for files of other programs.

use super::context_rows::own;
use super::contexts::sums::StackSums;
use super::contexts::tree::Contexts;
use super::model::Analysis;

/// The tree of calling contexts.
#[derive(Debug)]
pub struct StackTree<'data> {
    /// All contexts.
    pub(super) contexts: Contexts,
    /// The samples of each context alone, without those in the profiling runtime and those that the user leaves out.
    pub(super) own: Vec<u64>,
    /// The names of inlined functions.
    pub(super) inlined: Vec<&'data [u8]>,
    /// How much of the samples has stacks.
    pub(super) sums: StackSums,
}

impl StackTree<'_> {
    /// Returns the number of samples without a stack: those of profiles with stacks, and those of the other profiles.
    pub(super) fn without_stack(&self) -> u64 {
        let StackSums { without_stack, uncovered, partial, .. } = self.sums;
        without_stack.saturating_add(uncovered.ticks).saturating_add(partial.ticks)
    }
}

impl<'data> Analysis<'data> {
    /// Returns the tree of calling contexts, if there are stacks and the user wants times from stacks. The first call makes
    /// the tree.
    pub(super) fn stack_tree(&self) -> Option<&StackTree<'data>> {
        let make = || {
            let input = self.on_demand.stacks.as_ref().filter(|_| self.options.measures_times())?;
            let images = self.options.inlines.then_some(self.on_demand.parsed_images);
            let (contexts, inlined) = input.contexts(&self.functions, images);
            let sums = StackSums::new(input.stacks, &contexts);
            Some(StackTree { own: own(&contexts, &self.selections), contexts, inlined, sums })
        };
        self.on_demand.stack_tree.get_or_init(make).as_ref()
    }

    /// Returns whether the options leave out no function and no arc.
    pub(super) fn is_of_whole_program(&self) -> bool {
        self.options.choices.is_empty()
    }
}
