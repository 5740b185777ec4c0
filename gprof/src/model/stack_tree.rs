//! The tree of calling contexts with its samples, for pictures and for files of other programs.

use super::contexts::ticks::StackSums;
use super::contexts::tree::Contexts;
use crate::sources::stacks::Thread;

/// The tree of calling contexts.
#[derive(Debug)]
pub struct StackTree<'data> {
    /// The thread; `None` for all threads, or for the samples of no thread.
    pub(super) thread: Option<&'data Thread>,
    /// All contexts.
    pub(super) contexts: Contexts,
    /// The samples of each context alone, without those in the profiling runtime and those that the user leaves out.
    pub(super) own: Vec<u64>,
    /// The names of inlined functions.
    pub(super) inlined: Vec<&'data [u8]>,
    /// How much of the samples has stacks, those of all threads together.
    pub(super) sums: StackSums,
}

impl StackTree<'_> {
    /// Returns the number of samples without a stack: those of profiles with stacks, and those of the other profiles.
    pub(super) fn without_stack(&self) -> u64 {
        let StackSums { without_stack, uncovered, partial, .. } = self.sums;
        without_stack.saturating_add(uncovered.ticks).saturating_add(partial.ticks)
    }
}
