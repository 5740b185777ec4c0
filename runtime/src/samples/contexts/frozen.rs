//! The ticks for a file.
//!
//! A handler counts a tick in the bins first, and in the tree or in a sum when its walk is over. The writer does the
//! opposite: it copies the ticks of the tree and of the sums before it reads the bins. So the bins that it reads have
//! all ticks that it has copied. The other ticks in the bins came in between, or their walks had not ended. The file
//! has them under a reason of their own ([`CutReason::STILL_WALKING`]), and everything adds up, whatever other threads
//! do at that moment.
//!
//! The order holds on every processor: ticks are added with Release and copied with Acquire.

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
};
use core::{ptr, slice};

use gmon::encode::side_file::CutReason;

use super::storage::{Contexts, Frozen};
use super::tree::NodeRef;
use crate::os::map;

impl Contexts {
    /// See [`super::freeze`]. Without memory, the file gets the ticks of the nodes at the time when it is written:
    /// other threads may then have raised them.
    pub(super) fn freeze(&self) {
        let frozen = &self.frozen;
        frozen.clear();
        let nodes = self.tree.nodes.load(SeqCst);
        let memory = if nodes > 0 { map(nodes as usize * size_of::<u64>()) } else { ptr::null_mut() };
        frozen.nodes.store(nodes, SeqCst);
        frozen.ticks.store(memory, SeqCst);
        self.tree.each(|_, node| {
            if let Some(copy) = frozen.ticks().get((node.number as usize).wrapping_sub(1)) {
                copy.store(node.ticks, Relaxed);
            }
        });
        for (copy, cut) in frozen.cuts.iter().zip(self.cuts()) {
            copy.store(cut.load(Acquire), Relaxed);
        }
        frozen.is_frozen.store(true, SeqCst);
    }

    /// See [`super::each_node`].
    pub(super) fn each_node(&self, last: u32, mut each: impl FnMut(NodeRef)) {
        let is_frozen = self.frozen.is_frozen.load(SeqCst);
        let (nodes, ticks) = (self.frozen.nodes.load(SeqCst), self.frozen.ticks());
        self.tree.each_of(1..=last, &mut |_, node| {
            if !is_frozen || node.number <= nodes {
                let copied = ticks.get((node.number as usize).wrapping_sub(1)).map(|copy| copy.load(Relaxed));
                each(NodeRef { ticks: copied.unwrap_or(node.ticks), ..node });
            }
        });
    }

    /// See [`super::each_cut`].
    pub(super) fn each_cut(&self, mut each: impl FnMut(CutReason, u64)) {
        let cuts = if self.frozen.is_frozen.load(SeqCst) { &self.frozen.cuts } else { self.cuts() };
        for (code, ticks) in (0..).zip(cuts) {
            let ticks = ticks.load(Relaxed);
            if ticks > 0 {
                each(CutReason::from_code(code), ticks);
            }
        }
    }
}

impl Frozen {
    /// The ticks of the nodes, from number 1 on; empty if nothing is frozen, and without memory.
    fn ticks(&self) -> &[AtomicU64] {
        let ticks = self.ticks.load(SeqCst);
        if ticks.is_null() {
            return &[];
        }
        // SAFETY: mapped for this number of nodes; only the thread that writes the file uses and unmaps the memory.
        unsafe { slice::from_raw_parts(ticks.cast(), self.nodes.load(SeqCst) as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unwind::{Cut, Ending};

    /// The ticks for the file: of each node, and of each reason.
    fn for_file(contexts: &Contexts) -> (Vec<u64>, Vec<(u32, u64)>) {
        let (mut nodes, mut cuts) = (Vec::new(), Vec::new());
        contexts.each_node(contexts.tree.nodes.load(Relaxed), |node| nodes.push(node.ticks));
        contexts.each_cut(|reason, ticks| cuts.push((reason.code(), ticks)));
        (nodes, cuts)
    }

    #[test]
    fn a_file_gets_the_ticks_of_one_moment() {
        let contexts = Contexts::new();
        contexts.freeze();
        assert_eq!(for_file(&contexts), (vec![], vec![]));
        let count = |frames: &[u64], ticks| contexts.count_chain(None, frames, &[], Ending::Outermost, ticks);
        count(&[0x20, 0x10], 1);
        contexts.count_chain(None, &[], &[], Ending::Cut(Cut::Unreadable), 2);
        assert_eq!(for_file(&contexts), (vec![], vec![]), "the nodes are new");
        contexts.freeze();
        let frozen = (vec![0, 1], vec![(8, 2)]);
        assert_eq!(for_file(&contexts), frozen);
        count(&[0x20, 0x10], 4);
        count(&[0x30, 0x10], 8);
        contexts.count_cut(CutReason::NO_BUFFER, 16);
        assert_eq!(for_file(&contexts), frozen);
        contexts.frozen.clear();
        assert_eq!(for_file(&contexts), (vec![0, 5, 8], vec![(4, 16), (8, 2)]));
        contexts.freeze();
        contexts.frozen.clear();
        assert!(contexts.frozen.ticks().is_empty());
    }

    #[test]
    fn all_nodes_of_a_large_tree_are_frozen() {
        const NODES: u64 = 5000;
        let contexts = Contexts::new();
        (1..=NODES).for_each(|node| {
            assert!(contexts.count_chain(None, &[node << 4], &[], Ending::Outermost, node as u32).is_some());
        });
        contexts.freeze();
        (1..=NODES)
            .for_each(|node| assert!(contexts.count_chain(None, &[node << 4], &[], Ending::Outermost, 1).is_some()));
        assert_eq!(for_file(&contexts).0, (1..=NODES).collect::<Vec<_>>());
        contexts.frozen.clear();
        assert_eq!(for_file(&contexts).0, (2..=NODES + 1).collect::<Vec<_>>());
    }
}
