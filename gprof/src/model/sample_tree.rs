//! The samples of a thread, or of all threads, as a tree of frames.

use std::cmp::Reverse;
use std::collections::HashMap;

use gmon::side_file::CutReason;

use super::contexts::tree::{Children, Frame};
use super::stack_tree::StackTree;
use crate::program::symbols::functions::FunctionId;
use crate::sources::stacks::Thread;

/// The code of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SamplePlace<'data> {
    /// A function.
    Function(FunctionId),
    /// A function that was inlined into the caller: its symbol.
    Inlined(&'data [u8]),
    /// The kernel.
    Kernel,
    /// Code in no function of the images.
    Outside,
    /// The outer part of the stack is not known, for this reason.
    Cut(CutReason),
    /// Samples without a stack.
    WithoutStack,
    /// Frames that are left out of a stack that is too deep for the output.
    LeftOut,
}

/// A frame of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleNode {
    /// The index of the caller's frame.
    pub parent: Option<usize>,
    /// The number of callers.
    pub depth: usize,
    /// The index of the frame's code in [`SampleTree::places`].
    pub place: usize,
    /// The samples of the frame alone.
    pub own: u64,
    /// The samples of the frame and of all frames that it called.
    pub inclusive: u64,
}

/// The samples of a thread, or of all threads, as a tree of frames.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SampleTree<'data> {
    /// The thread; `None` for all threads, or for samples of no thread.
    pub thread: Option<&'data Thread>,
    /// The code of the tree's frames, each once: indexes in `SampleTrees::places`.
    pub places: Vec<usize>,
    /// The frames, each with at least one sample. A frame stands behind its caller and before the other frames that the
    /// caller's caller called, the longest time first.
    pub nodes: Vec<SampleNode>,
    /// All samples of the tree.
    pub total: u64,
    /// The index in `places` of each place.
    numbers: HashMap<usize, usize>,
}

impl<'data> SampleTree<'data> {
    /// Makes the tree of the stacks of a thread. Samples without a stack are a frame of their own if `is_whole` is set.
    pub(super) fn of_stacks(tree: &StackTree<'data>, is_whole: bool, places: &mut Places<'data>) -> SampleTree<'data> {
        let StackTree { contexts, own, inlined, thread, .. } = tree;
        let mut samples = SampleTree { thread: *thread, ..SampleTree::default() };
        let mut inclusive = own.clone();
        contexts.add_up(&mut inclusive);
        let place = |frame| match frame {
            Frame::Function(id) => SamplePlace::Function(id),
            Frame::Inlined(number) => SamplePlace::Inlined(inlined.get(number as usize).copied().unwrap_or_default()),
            Frame::Kernel => SamplePlace::Kernel,
            Frame::Outside => SamplePlace::Outside,
            Frame::Cut(reason) => SamplePlace::Cut(reason),
        };
        let mut children = Children::new(contexts);
        children.sort_by_key(|at| (Reverse(inclusive[at]), contexts.all()[at].frame, contexts.all()[at].doubt));
        // The frames from the outermost one to the current one.
        let mut path: Vec<usize> = Vec::new();
        children.each(|at, depth| {
            path.truncate(depth);
            if inclusive[at] > 0 {
                let place = places.number(place(contexts.all()[at].frame));
                path.push(samples.push(path.last().copied(), place, own[at], inclusive[at]));
            }
        });
        if is_whole {
            samples.push_leaf(places.number(SamplePlace::WithoutStack), tree.without_stack());
        }
        samples
    }

    /// Makes a tree of frames without callers. The numbers of samples are rounded so that their sum is right.
    pub(super) fn flat(
        times: impl Iterator<Item = (SamplePlace<'data>, f64)>,
        places: &mut Places<'data>,
    ) -> SampleTree<'data> {
        let mut samples = SampleTree::default();
        let mut sum = 0.0;
        for (place, time) in times {
            let before = sum;
            sum += time.max(0.0);
            samples.push_leaf(places.number(place), (f64::round(sum) - f64::round(before)) as u64);
        }
        samples
    }

    fn push_leaf(&mut self, place: usize, count: u64) {
        if count > 0 {
            self.push(None, place, count, count);
        }
    }

    pub(super) fn push(&mut self, parent: Option<usize>, place: usize, own: u64, inclusive: u64) -> usize {
        let place = *self.numbers.entry(place).or_insert_with(|| {
            self.places.push(place);
            self.places.len() - 1
        });
        let depth = parent.map_or(0, |parent| self.nodes[parent].depth + 1);
        self.total = self.total.saturating_add(own);
        self.nodes.push(SampleNode { parent, depth, place, own, inclusive });
        self.nodes.len() - 1
    }
}

/// The code of frames, each once.
#[derive(Debug, Default)]
pub(super) struct Places<'data> {
    pub(super) all: Vec<SamplePlace<'data>>,
    numbers: HashMap<SamplePlace<'data>, usize>,
}

impl<'data> Places<'data> {
    /// Returns the index of a place, which is added if it is new.
    pub(super) fn number(&mut self, place: SamplePlace<'data>) -> usize {
        *self.numbers.entry(place).or_insert_with(|| {
            self.all.push(place);
            self.all.len() - 1
        })
    }
}
