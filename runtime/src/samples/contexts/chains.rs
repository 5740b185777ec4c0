//! Counts ticks in the node of a chain of frames.
//!
//! The tree has a bound. A chain for which there is no room loses frames in the middle: below the outer frames that the
//! tree has already comes the reason [`CutReason::NO_MEMORY`], and below the reason come the innermost frames. So
//! callers keep their time. A part of the tree is reserved for such chains.

use core::sync::atomic::Ordering::Release;

use gmon::encode::side_file::{CutReason, Place};
use gmon::layout::side_file::THREAD;

use super::storage::{Contexts, MOST_NODES, OBJECT_SHIFT, PLACE};
use super::tree::ROOT;
use crate::unwind::{Cut, Ending};

/// The frames that are kept of a stack that is too deep. If such a recursion calls itself at several places, each
/// sample has a path of its own, and its whole chain would need thousands of nodes.
pub(super) const KEPT_OF_DEEP: usize = 64;
/// The nodes that are reserved for chains for which there is no room: whole chains do not take these nodes.
const NODES_WITHOUT_ROOM: u32 = 1 << 17;
/// The most outer frames and the most inner frames that are kept of a chain for which there is no room, until the tree
/// has the third number of nodes. The fewer frames are kept, the more chains share nodes.
const KEPT_WITHOUT_ROOM: [(usize, usize, u32); 3] = [
    (usize::MAX, 8, MOST_NODES - NODES_WITHOUT_ROOM / 2),
    (4, 8, MOST_NODES - NODES_WITHOUT_ROOM / 4),
    (4, 1, MOST_NODES),
];

/// A place as the address of a node.
fn address_of(place: Place) -> u64 {
    PLACE | u64::from(place.object) << OBJECT_SHIFT | place.address
}

/// The reason for which a chain was cut.
fn reason(cut: Cut) -> CutReason {
    match cut {
        Cut::TooDeep => CutReason::TOO_DEEP,
        Cut::NoTable => CutReason::NO_TABLE,
        Cut::Unreadable => CutReason::UNREADABLE,
        Cut::Misled => CutReason::BAD_FRAME,
        Cut::CopyTooSmall => CutReason::COPY_TOO_SMALL,
        Cut::CopyIncomplete => CutReason::COPY_INCOMPLETE,
    }
}

impl Contexts {
    /// Counts ticks of which no frame is known.
    pub(super) fn count_cut(&self, reason: CutReason, ticks: u32) {
        if let Some(cut) = self.cuts().get(reason.code() as usize) {
            // The ticks are in the bins already: see `frozen`.
            cut.fetch_add(u64::from(ticks), Release);
        }
    }

    /// Counts ticks in the node of a chain of a thread. `frames` are the inner frames, the innermost first; `outer` are
    /// those at the outer end, the outermost first. Frames between them are missing if the chain is cut. The result is
    /// the node, if the ticks are in a node.
    pub(super) fn count_chain(
        &self,
        thread: Option<u32>,
        frames: &[u64],
        outer: &[u64],
        ending: Ending,
        ticks: u32,
    ) -> Option<u32> {
        const MOST: u32 = MOST_NODES - NODES_WITHOUT_ROOM;
        let deep = innermost(frames, KEPT_OF_DEEP);
        let node = match ending {
            Ending::Outermost => self.behind(thread, outer, MOST).and_then(|top| self.below(top, frames, MOST)),
            Ending::Cut(cut) if frames.is_empty() => {
                self.count_cut(reason(cut), ticks);
                return None;
            }
            Ending::Cut(Cut::TooDeep) if outer.is_empty() => self.cut(thread, CutReason::TOO_DEEP, deep, MOST),
            Ending::Cut(Cut::TooDeep) => {
                let gap = |top| self.tree.child(top, address_of(CutReason::MIDDLE.place()), MOST);
                self.behind(thread, outer, MOST).and_then(gap).and_then(|top| self.below(top, deep, MOST))
            }
            Ending::Cut(cut) => self.cut(thread, reason(cut), frames, MOST),
        };
        let node = node.or_else(|| self.without_room(thread, ending, outer, frames));
        self.count_in(node, ticks)
    }

    /// Counts ticks in the node of frames below a node of the tree, the innermost frame first. The result is the node.
    pub(super) fn count_below(&self, top: u32, frames: &[u64], ticks: u32) -> Option<u32> {
        self.count_in(self.below(top, frames, MOST_NODES), ticks)
    }

    fn count_in(&self, node: Option<u32>, ticks: u32) -> Option<u32> {
        match node {
            Some(node) => self.tree.count(node, ticks),
            None => self.count_cut(CutReason::NO_MEMORY, ticks),
        }
        node
    }

    /// The node of a chain for which there is no room, if there is room for what is kept of such a chain.
    fn without_room(&self, thread: Option<u32>, ending: Ending, outer: &[u64], frames: &[u64]) -> Option<u32> {
        // Frames between `outer` and `frames` are missing. In a recursion, the frames of the tree below `outer` may
        // look like the outermost of `frames`, but they are others.
        let has_gap = matches!(ending, Ending::Cut(Cut::TooDeep)) && !outer.is_empty();
        let begins_with = match ending {
            Ending::Cut(cut) if !has_gap => Some(reason(cut)),
            _ => None,
        };
        let beyond = if has_gap { &[] } else { frames };
        KEPT_WITHOUT_ROOM.iter().find_map(|(most_outer, most_inner, most)| {
            let mut node = self.top(thread, *most)?;
            if let Some(reason) = begins_with {
                node = self.tree.child(node, address_of(reason.place()), *most)?;
            }
            let mut left = outer.len() + frames.len();
            for frame in outer.iter().chain(beyond.iter().rev()).take(*most_outer) {
                // With a bound of 0 nodes, the tree only finds nodes and adds none.
                let Some(next) = self.tree.child(node, *frame, 0) else { break };
                (node, left) = (next, left - 1);
            }
            let inner = innermost(frames, left.min(*most_inner));
            if has_gap || inner.len() < left {
                node = self.tree.child(node, address_of(CutReason::NO_MEMORY.place()), *most)?;
            }
            self.below(node, inner, *most)
        })
    }

    /// The node of a thread, or the root, if the tree has room.
    fn top(&self, thread: Option<u32>, most: u32) -> Option<u32> {
        let Some(thread) = thread else { return Some(ROOT) };
        self.tree.child(ROOT, address_of(Place { object: THREAD, address: u64::from(thread) }), most)
    }

    /// The node of the frames at the outer end, if the tree has room.
    fn behind(&self, thread: Option<u32>, outer: &[u64], most: u32) -> Option<u32> {
        outer.iter().try_fold(self.top(thread, most)?, |node, frame| self.tree.child(node, *frame, most))
    }

    /// The node of a chain that was cut, if the tree has room.
    fn cut(&self, thread: Option<u32>, reason: CutReason, frames: &[u64], most: u32) -> Option<u32> {
        let top = self.top(thread, most)?;
        self.below(self.tree.child(top, address_of(reason.place()), most)?, frames, most)
    }

    /// The node of frames below a node, if the tree has room.
    fn below(&self, top: u32, frames: &[u64], most: u32) -> Option<u32> {
        frames.iter().rev().try_fold(top, |node, frame| self.tree.child(node, *frame, most))
    }
}

/// The innermost frames, `most` at most.
fn innermost(frames: &[u64], most: usize) -> &[u64] {
    frames.get(..most).unwrap_or(frames)
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::Ordering::Relaxed;

    use super::super::storage::position;
    use super::super::threads;
    use super::*;
    use crate::arch::set_entry_index;

    /// The nodes as (parent, address, ticks).
    fn nodes(contexts: &Contexts) -> Vec<(u32, u64, u64)> {
        let mut nodes = Vec::new();
        contexts.tree.each(|_, node| nodes.push((node.parent, node.address, node.ticks)));
        nodes
    }

    /// The ticks without a stack, as (code, ticks).
    fn cuts(contexts: &Contexts) -> Vec<(usize, u64)> {
        let cuts = contexts.cuts().iter().map(|cut| cut.load(Relaxed)).enumerate();
        cuts.filter(|(_, ticks)| *ticks > 0).collect()
    }

    #[test]
    fn a_cut_chain_hangs_below_its_reason() {
        let contexts = Contexts::new();
        contexts.count_chain(None, &[0x30, 0x20, 0x10], &[], Ending::Outermost, 1);
        contexts.count_chain(None, &[0x30, 0x20], &[], Ending::Cut(Cut::TooDeep), 2);
        contexts.count_chain(None, &[], &[], Ending::Cut(Cut::Unreadable), 4);
        contexts.count_cut(CutReason::NO_BUFFER, 8);
        let cut = PLACE | 0x7ffc << 48 | 10;
        let expected = [(0, 0x10, 0), (1, 0x20, 0), (2, 0x30, 1), (0, cut, 0), (4, 0x20, 0), (5, 0x30, 2)];
        assert_eq!(nodes(&contexts), expected);
        assert_eq!(cuts(&contexts), [(4, 8), (8, 4)]);
    }

    #[test]
    fn frames_of_a_walk_hang_below_the_code_that_the_walk_interrupts() {
        let contexts = Contexts::new();
        let top = contexts.count_chain(None, &[0x20, 0x10], &[], Ending::Outermost, 0).unwrap();
        assert_eq!(contexts.count_below(top, &[0x40, 0x30], 2), Some(4));
        assert_eq!(nodes(&contexts), [(0, 0x10, 0), (1, 0x20, 0), (2, 0x30, 0), (3, 0x40, 2)]);
        assert_eq!(cuts(&contexts), []);
    }

    #[test]
    fn a_thread_is_the_first_level_of_its_chains() {
        let contexts = Contexts::new();
        contexts.threads.map();
        set_entry_index(None);
        let index = threads::count(&contexts, 3);
        assert_eq!(threads::count(&contexts, 4), index);
        contexts.count_chain(Some(5), &[0x20, 0x10], &[], Ending::Outermost, 1);
        contexts.count_chain(Some(5), &[0x20], &[], Ending::Cut(Cut::NoTable), 2);
        let (thread, cut) = (PLACE | 0x7ffd << 48 | 5, PLACE | 0x7ffc << 48 | 5);
        let expected = [(0, thread, 0), (1, 0x10, 0), (2, 0x20, 1), (1, cut, 0), (4, 0x20, 2)];
        assert_eq!(nodes(&contexts), expected);
        let all = contexts.threads.all();
        assert_eq!(all[index].ticks.load(Relaxed), 7);
        assert!(all[index].number.load(Relaxed) > 0 && all[index].name[0].load(Relaxed) != 0);
    }

    #[test]
    fn few_frames_are_kept_of_a_stack_that_is_too_deep() {
        let contexts = Contexts::new();
        let frames: Vec<u64> = (1..=4096).collect();
        contexts.count_chain(None, &frames, &[], Ending::Cut(Cut::TooDeep), 3);
        let found = nodes(&contexts);
        assert_eq!((found.len(), found[1], found[64]), (65, (1, 64, 0), (64, 1, 3)));
    }

    #[test]
    fn both_ends_of_a_deep_stack_are_kept() {
        let contexts = Contexts::new();
        let frames: Vec<u64> = (1..=4096).collect();
        contexts.count_chain(None, &frames, &[0x1000_0000, 0x2000_0000], Ending::Cut(Cut::TooDeep), 3);
        let found = nodes(&contexts);
        let gap = address_of(CutReason::MIDDLE.place());
        assert_eq!(
            (&found[..4], found.len()),
            (&[(0, 0x1000_0000, 0), (1, 0x2000_0000, 0), (2, gap, 0), (3, 64, 0)][..], 67)
        );
        assert_eq!(found[66], (66, 1, 3));
        contexts.count_chain(None, &[0x30], &[0x10, 0x20], Ending::Outermost, 5);
        assert_eq!(nodes(&contexts)[67..], [(0, 0x10, 0), (68, 0x20, 0), (69, 0x30, 5)], "no frame is missing");
    }

    /// The addresses from the outermost node to a node.
    fn path(contexts: &Contexts, node: usize) -> Vec<u64> {
        let all = nodes(contexts);
        let next = |at: &usize| (all[*at].0 as usize).checked_sub(1);
        let mut path: Vec<u64> = std::iter::successors(Some(node), next).map(|at| all[at].1).collect();
        path.reverse();
        path
    }

    #[test]
    fn a_full_tree_keeps_the_callers_that_the_tree_has() {
        let contexts = Contexts::new();
        let outer = [0x10, 0x20, 0x30, 0x40, 0x50, 0x60];
        let chain = |inner: &[u64]| {
            let mut frames: Vec<u64> = outer.iter().chain(inner).copied().collect();
            frames.reverse();
            frames
        };
        contexts.count_chain(None, &chain(&[0x70]), &[], Ending::Outermost, 1);
        contexts.count_chain(None, &chain(&[0x70]), &[], Ending::Cut(Cut::NoTable), 1);
        let long = |number: u64| (1..=4000).map(|depth| (depth + 9) << 32 | number).collect::<Vec<u64>>();
        for number in 0..u64::from(MOST_NODES / 4000) + 1 {
            contexts.count_chain(None, &long(number), &[], Ending::Outermost, 1);
        }
        let gap = address_of(CutReason::NO_MEMORY.place());
        let inner: Vec<u64> = (1..=20).collect();
        let ticks_at = |ticks: u64| nodes(&contexts).iter().position(|node| node.2 == ticks).unwrap();
        contexts.count_chain(None, &chain(&inner), &[], Ending::Outermost, 1000);
        assert_eq!(path(&contexts, ticks_at(1000)), [&outer[..], &[gap], &inner[12..]].concat());
        // The outer end of a stack that is known from an earlier walk.
        contexts.count_chain(None, &chain(&inner[1..])[..20], &outer[..5], Ending::Outermost, 2000);
        assert_eq!(path(&contexts, ticks_at(3000)), [&outer[..], &[gap], &inner[12..]].concat());
        // What is near to the callers needs no gap.
        contexts.count_chain(None, &chain(&inner[..8]), &[], Ending::Outermost, 4000);
        assert_eq!(path(&contexts, ticks_at(4000)), [&outer[..], &inner[..8]].concat());
        contexts.count_chain(None, &chain(&inner), &[], Ending::Cut(Cut::NoTable), 5000);
        let no_table = address_of(CutReason::NO_TABLE.place());
        assert_eq!(path(&contexts, ticks_at(5000)), [&[no_table], &outer[..], &[gap], &inner[12..]].concat());
        // What is missing between the ends of a recursion stays missing, even if the tree has the same frames there.
        contexts.count_chain(None, &[0x70, 0x60, 0x50], &outer[..4], Ending::Cut(Cut::TooDeep), 5500);
        assert_eq!(path(&contexts, ticks_at(5500)), [&outer[..4], &[gap], &[0x50, 0x60, 0x70]].concat());
        assert_eq!(cuts(&contexts), []);
        // When still less room is left, four callers stay.
        let mut number = 0;
        while contexts.tree.nodes.load(Relaxed) < MOST_NODES - NODES_WITHOUT_ROOM / 2 {
            number += 1;
            let frames: Vec<u64> = (1..=8).map(|depth| depth << 32 | number << 8).collect();
            contexts.count_chain(None, &frames, &[], Ending::Outermost, 1);
        }
        let others: Vec<u64> = (101..=120).collect();
        contexts.count_chain(None, &chain(&others), &[], Ending::Outermost, 6000);
        assert_eq!(path(&contexts, ticks_at(6000)), [&outer[..4], &[gap], &others[12..]].concat());
        while contexts.tree.nodes.load(Relaxed) < MOST_NODES - NODES_WITHOUT_ROOM / 4 {
            number += 1;
            let frames: Vec<u64> = (1..=8).map(|depth| depth << 32 | number << 8).collect();
            contexts.count_chain(None, &frames, &[], Ending::Outermost, 1);
        }
        let others: Vec<u64> = (201..=220).collect();
        contexts.count_chain(None, &chain(&others), &[], Ending::Outermost, 7000);
        assert_eq!(path(&contexts, ticks_at(7000)), [&outer[..4], &[gap], &others[19..]].concat());
    }

    #[test]
    fn a_full_tree_keeps_the_innermost_frames_and_all_ticks() {
        let contexts = Contexts::new();
        let first: Vec<u64> = (1..=4000).map(|depth| depth << 32).collect();
        let chains = u64::from(MOST_NODES / 4000) + 100;
        for chain in 0..chains {
            let frames: Vec<u64> = first.iter().map(|frame| frame + chain).collect();
            contexts.count_chain(None, &frames, &[], Ending::Outermost, 1);
        }
        let ticks = |contexts: &Contexts| nodes(contexts).iter().map(|(_, _, ticks)| ticks).sum::<u64>();
        assert_eq!((ticks(&contexts), cuts(&contexts)), (chains, vec![]));
        let cut = address_of(CutReason::NO_MEMORY.place());
        let found = nodes(&contexts);
        let is_without_callers = |node: &(u32, u64, u64)| (node.0, node.1) == (ROOT, cut);
        let reason = found.iter().position(is_without_callers).expect("some chains were cut") as u32 + 1;
        let kept = found.iter().filter(|node| node.0 == reason).count();
        assert!((100..200).contains(&kept), "{kept}");
        assert!((1 << 32..9 << 32).contains(&found.last().unwrap().1) && found.last().unwrap().2 == 1);
        // A chain that is in the tree is found there.
        contexts.count_chain(None, &first, &[], Ending::Outermost, 5);
        assert_eq!(nodes(&contexts)[3999], (3999, 1 << 32, 6));
        // When nothing is left, the ticks are in a sum.
        let others = u64::from(MOST_NODES) / 4;
        for chain in 0..others {
            let frames: Vec<u64> = first.iter().take(8).map(|frame| frame + (chain << 16)).collect();
            contexts.count_chain(None, &frames, &[], Ending::Outermost, 1);
        }
        let [(3, lost)] = cuts(&contexts)[..] else { panic!("{:?}", cuts(&contexts)) };
        assert_eq!(ticks(&contexts) + lost, chains + 5 + others);
        assert_eq!(contexts.tree.nodes.load(Relaxed), MOST_NODES);
    }

    #[test]
    fn a_full_tree_keeps_the_reason_why_a_chain_was_cut() {
        let contexts = Contexts::new();
        let full = MOST_NODES - NODES_WITHOUT_ROOM;
        assert!((0..=position(MOST_NODES).0).all(|number| contexts.tree.segment_or_new(number).is_some()));
        contexts.tree.nodes.store(full, Relaxed);
        let frames = [0x30, 0x20, 0x10];
        contexts.count_chain(None, &frames, &[], Ending::Cut(Cut::TooDeep), 1);
        contexts.count_chain(None, &frames, &[7, 8], Ending::Cut(Cut::TooDeep), 2);
        contexts.count_chain(None, &frames, &[], Ending::Cut(Cut::NoTable), 3);
        contexts.count_chain(None, &frames, &[], Ending::Outermost, 4);
        let mut tops = Vec::new();
        contexts.tree.each(|_, node| {
            if node.number > full && node.parent == ROOT {
                tops.push(node.address);
            }
        });
        let [too_deep, gap, no_table] =
            [CutReason::TOO_DEEP, CutReason::NO_MEMORY, CutReason::NO_TABLE].map(|reason| address_of(reason.place()));
        // The two outer frames of the second chain are missing, instead of the frames in the middle.
        assert_eq!(tops, [too_deep, gap, no_table, 0x10]);
        assert_eq!((contexts.tree.nodes.load(Relaxed) - full, cuts(&contexts)), (15, vec![]));
    }
}
