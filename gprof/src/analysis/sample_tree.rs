//! The samples as a tree of frames, for files of other programs.
//!
//! With stacks, this is the tree of calling contexts. Without stacks each function is an outermost frame with its self time:
//! an estimate must not look like a stack that was measured.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;

use gmon::side_file::CutReason;

use super::contexts::tree::{Children, Frame};
use super::stack_tree::StackTree;
use crate::symbols::functions::FunctionId;

/// The number of frames that all stacks together may have, and the number for each node. A chain of a million calls with
/// samples at each depth has half a trillion frames in its stacks.
const FRAMES: usize = 8 << 20;
const FRAMES_OF_NODE: usize = 16;

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

/// The samples as a tree of frames.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SampleTree<'data> {
    /// Whether the tree has stacks. If not, each function is a frame without callers.
    pub has_stacks: bool,
    /// The code of all frames, each once.
    pub places: Vec<SamplePlace<'data>>,
    /// The frames, each with at least one sample. A frame stands behind its caller and before the other frames that the
    /// caller's caller called, the longest time first.
    pub nodes: Vec<SampleNode>,
    /// All samples.
    pub total: u64,
    /// The most frames of a stack in a format that writes each stack with all its frames.
    most_frames: usize,
    numbers: HashMap<SamplePlace<'data>, usize>,
}

impl<'data> SampleTree<'data> {
    pub(super) fn of_stacks(tree: &StackTree<'data>, is_whole: bool) -> SampleTree<'data> {
        let StackTree { contexts, own, inlined, .. } = tree;
        let mut samples = SampleTree { has_stacks: true, ..SampleTree::default() };
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
        children.sort_by_key(|at| (Reverse(inclusive[at]), contexts.all()[at].frame, contexts.all()[at].is_doubtful));
        // The frames from the outermost one to the current one.
        let mut path: Vec<usize> = Vec::new();
        children.each(|at, depth| {
            path.truncate(depth);
            if inclusive[at] > 0 {
                path.push(samples.push(path.last().copied(), place(contexts.all()[at].frame), own[at], inclusive[at]));
            }
        });
        if is_whole {
            samples.push_leaf(SamplePlace::WithoutStack, tree.without_stack());
        }
        samples.limit_frames(FRAMES + FRAMES_OF_NODE * samples.nodes.len());
        samples
    }

    /// Limits the length of stacks so that all stacks together have no more frames than this.
    fn limit_frames(&mut self, most: usize) {
        let lengths = || self.nodes.iter().filter(|node| node.own > 0).map(|node| node.depth + 1);
        self.most_frames = lengths().max().unwrap_or(0);
        while lengths().map(|length| length.min(self.most_frames)).fold(0, usize::saturating_add) > most {
            self.most_frames /= 2;
        }
        if self.nodes.iter().any(|node| node.depth >= self.most_frames) {
            self.number(SamplePlace::LeftOut);
        }
    }

    /// Calls `take` for each frame with samples of its own: with the places of the frames from the outermost one to this one,
    /// and the samples. A stack that is too deep for the limits of the output loses frames near its end but the last one.
    pub fn each_stack(&self, mut take: impl FnMut(&[usize], u64) -> io::Result<()>) -> io::Result<()> {
        let (mut path, mut shortened): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let left_out = self.numbers.get(&SamplePlace::LeftOut).copied();
        for node in &self.nodes {
            let left_out = left_out.filter(|_| node.depth >= self.most_frames);
            if left_out.is_none() {
                path.truncate(node.depth);
                path.push(node.place);
            }
            match left_out {
                _ if node.own == 0 => {}
                None => take(&path, node.own)?,
                Some(left_out) => {
                    shortened.clear();
                    shortened.extend_from_slice(&path[..self.most_frames.saturating_sub(2)]);
                    shortened.extend([left_out, node.place]);
                    take(&shortened, node.own)?;
                }
            }
        }
        Ok(())
    }

    /// Makes a tree of frames without callers. The numbers of samples are rounded so that their sum is right.
    pub(super) fn flat(times: impl Iterator<Item = (SamplePlace<'data>, f64)>) -> SampleTree<'data> {
        let mut samples = SampleTree::default();
        let mut sum = 0.0;
        for (place, time) in times {
            let before = sum;
            sum += time.max(0.0);
            samples.push_leaf(place, (f64::round(sum) - f64::round(before)) as u64);
        }
        samples
    }

    fn push_leaf(&mut self, place: SamplePlace<'data>, count: u64) {
        if count > 0 {
            self.push(None, place, count, count);
        }
    }

    fn push(&mut self, parent: Option<usize>, place: SamplePlace<'data>, own: u64, inclusive: u64) -> usize {
        let place = self.number(place);
        let depth = parent.map_or(0, |parent| self.nodes[parent].depth + 1);
        self.total = self.total.saturating_add(own);
        self.nodes.push(SampleNode { parent, depth, place, own, inclusive });
        self.nodes.len() - 1
    }

    /// Returns the index of a place, which is added if it is new.
    fn number(&mut self, place: SamplePlace<'data>) -> usize {
        *self.numbers.entry(place).or_insert_with(|| {
            self.places.push(place);
            self.places.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_stacks_lose_the_frames_before_the_last_one() {
        let mut tree = SampleTree::default();
        let mut push = |depth: usize, parent: Option<usize>, own: u64| {
            // The symbol of a frame is its depth.
            const NAMES: [&[u8]; 6] = [b"0", b"1", b"2", b"3", b"4", b"5"];
            tree.push(parent, SamplePlace::Inlined(NAMES[depth]), own, own)
        };
        let mut chain = Vec::new();
        for depth in 0..6 {
            let parent = chain.last().copied();
            chain.push(push(depth, parent, u64::from(depth > 3)));
        }
        push(3, Some(chain[2]), 2);
        push(1, Some(chain[0]), 3);
        let stacks = |tree: &SampleTree<'_>| {
            let mut stacks = Vec::new();
            let name = |place: &usize| match tree.places[*place] {
                SamplePlace::Inlined(name) => String::from_utf8_lossy(name).into_owned(),
                _ => "-".to_owned(),
            };
            let take = |stack: &[usize], own: u64| {
                stacks.push((stack.iter().map(name).collect::<String>(), own));
                Ok(())
            };
            tree.each_stack(take).unwrap();
            stacks
        };
        let of = |texts: [(&str, u64); 4]| texts.map(|(text, own)| (text.to_owned(), own)).to_vec();
        tree.limit_frames(17);
        assert_eq!(stacks(&tree), of([("01234", 1), ("012345", 1), ("0123", 2), ("01", 3)]));
        tree.limit_frames(16);
        assert_eq!(stacks(&tree), of([("0-4", 1), ("0-5", 1), ("0-3", 2), ("01", 3)]));
    }
}
