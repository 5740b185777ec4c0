//! The samples as trees of frames, for files of other programs: one tree, or one for each thread.
//!
//! With stacks, these are the trees of calling contexts. Without stacks each function is an outermost frame with its
//! self time: an estimate must not look like a stack that was measured.

use std::cmp::Reverse;
use std::io;

use super::sample_tree::{Places, SamplePlace, SampleTree};
use super::stack_tree::StackTree;

/// The number of frames that all stacks together may have, and the number for each node. A chain of a million calls
/// with samples at each depth has half a trillion frames in its stacks.
const FRAMES: usize = 8 << 20;
const FRAMES_OF_NODE: usize = 16;

/// The samples as trees of frames.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SampleTrees<'data> {
    /// Whether the trees have stacks. If not, each function is a frame without callers.
    pub has_stacks: bool,
    /// Whether there is a tree for each thread. If not, there is one tree.
    pub has_threads: bool,
    /// The code of all frames, each once.
    pub places: Vec<SamplePlace<'data>>,
    /// The trees: those of threads, the longest time first, and at the end that of the samples of no thread, if there
    /// are any.
    pub trees: Vec<SampleTree<'data>>,
    /// All samples.
    pub total: u64,
    /// The most frames of a stack in a format that writes each stack with all its frames.
    most_frames: usize,
    /// The index of the place that stands for frames that are left out, if a stack is too deep.
    left_out: Option<usize>,
}

impl<'data> SampleTrees<'data> {
    /// Makes trees of stacks: one of all threads, or one of each thread. `is_whole` tells whether the samples without a
    /// stack are in the last tree.
    pub(super) fn of_stacks(stacks: &[StackTree<'data>], has_threads: bool, is_whole: bool) -> SampleTrees<'data> {
        let mut places = Places::default();
        let trees = stacks.iter().enumerate().map(|(at, tree)| {
            let is_last = at + 1 == stacks.len();
            SampleTree::of_stacks(tree, is_whole && is_last, &mut places)
        });
        let trees = trees.collect();
        SampleTrees { has_stacks: true, has_threads, ..SampleTrees::new(trees, places) }
    }

    /// Makes one tree of frames without callers.
    pub(super) fn flat(times: impl Iterator<Item = (SamplePlace<'data>, f64)>) -> SampleTrees<'data> {
        let mut places = Places::default();
        let tree = SampleTree::flat(times, &mut places);
        SampleTrees::new(vec![tree], places)
    }

    fn new(mut trees: Vec<SampleTree<'data>>, places: Places<'data>) -> SampleTrees<'data> {
        // A profile without samples has a tree without frames.
        let has_samples = trees.iter().any(|tree| tree.total > 0);
        trees.retain(|tree| tree.total > 0 || !has_samples);
        trees.truncate(if has_samples { trees.len() } else { 1 });
        trees.sort_by_key(|tree| (tree.thread.is_none(), Reverse(tree.total)));
        let total = trees.iter().fold(0_u64, |sum, tree| sum.saturating_add(tree.total));
        let mut samples = SampleTrees { trees, total, places: places.all, ..SampleTrees::default() };
        let nodes: usize = samples.trees.iter().map(|tree| tree.nodes.len()).sum();
        samples.limit_frames(FRAMES + FRAMES_OF_NODE * nodes);
        samples
    }

    /// Limits the length of stacks so that all stacks together have no more frames than this.
    fn limit_frames(&mut self, most: usize) {
        let nodes = || self.trees.iter().flat_map(|tree| &tree.nodes);
        let lengths = || nodes().filter(|node| node.own > 0).map(|node| node.depth + 1);
        let mut most_frames = lengths().max().unwrap_or(0);
        while lengths().map(|length| length.min(most_frames)).fold(0, usize::saturating_add) > most {
            most_frames /= 2;
        }
        let is_deep = nodes().any(|node| node.depth >= most_frames);
        self.most_frames = most_frames;
        self.left_out = is_deep.then_some(self.places.len());
        self.places.extend(self.left_out.map(|_| SamplePlace::LeftOut));
    }

    /// Calls `take` for each frame of a tree with samples of its own: with the places of the frames from the outermost
    /// one to this one, and the samples. A stack that is too deep for the limits of the output loses frames near its
    /// end but the last one.
    pub fn each_stack(
        &self,
        tree: &SampleTree<'data>,
        mut take: impl FnMut(&[usize], u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut path, mut shortened): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for node in &tree.nodes {
            let left_out = self.left_out.filter(|_| node.depth >= self.most_frames);
            let place = tree.places[node.place];
            if left_out.is_none() {
                path.truncate(node.depth);
                path.push(place);
            }
            match left_out {
                _ if node.own == 0 => {}
                None => take(&path, node.own)?,
                Some(left_out) => {
                    shortened.clear();
                    shortened.extend_from_slice(&path[..self.most_frames.saturating_sub(2)]);
                    shortened.extend([left_out, place]);
                    take(&shortened, node.own)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_stacks_lose_the_frames_before_the_last_one() {
        let (mut tree, mut places) = (SampleTree::default(), Places::default());
        let mut push = |depth: usize, parent: Option<usize>, own: u64| {
            // The symbol of a frame is its depth.
            const NAMES: [&[u8]; 6] = [b"0", b"1", b"2", b"3", b"4", b"5"];
            tree.push(parent, places.number(SamplePlace::Inlined(NAMES[depth])), own, own)
        };
        let mut chain = Vec::new();
        for depth in 0..6 {
            let parent = chain.last().copied();
            chain.push(push(depth, parent, u64::from(depth > 3)));
        }
        push(3, Some(chain[2]), 2);
        push(1, Some(chain[0]), 3);
        let mut trees = SampleTrees::new(vec![tree], places);
        let stacks = |trees: &SampleTrees<'_>| {
            let mut stacks = Vec::new();
            let name = |place: &usize| match trees.places[*place] {
                SamplePlace::Inlined(name) => String::from_utf8_lossy(name).into_owned(),
                _ => "-".to_owned(),
            };
            let take = |stack: &[usize], own: u64| {
                stacks.push((stack.iter().map(name).collect::<String>(), own));
                Ok(())
            };
            trees.each_stack(&trees.trees[0], take).unwrap();
            stacks
        };
        let of = |texts: [(&str, u64); 4]| texts.map(|(text, own)| (text.to_owned(), own)).to_vec();
        trees.limit_frames(17);
        assert_eq!(stacks(&trees), of([("01234", 1), ("012345", 1), ("0123", 2), ("01", 3)]));
        trees.limit_frames(16);
        assert_eq!(stacks(&trees), of([("0-4", 1), ("0-5", 1), ("0-3", 2), ("01", 3)]));
    }
}
