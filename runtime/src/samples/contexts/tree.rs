//! Adds nodes to the tree of calling contexts, and reads the tree.
//!
//! A node is found by a hash of its parent and its address. Each segment of the tree has its own hash table, as large
//! as the segment; a search looks into the segments in turn, the oldest first. So the table grows with the tree,
//! nothing moves, and the contexts that a program is in from its start on are found at once.
//!
//! Any number of threads and signal handlers may add nodes at the same time, without a lock. Two threads may add the
//! same node at the same time; then the tree has the node twice, and its readers add both up.

use core::ops::RangeInclusive;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::storage::{ContextNode, ContextTree, GROUP, PLACE, Segment, WHILE_CLOSING, position};
use crate::unwind::stays;

/// The number of the root.
pub(crate) const ROOT: u32 = 0;

/// A node that readers see.
pub(crate) struct NodeRef {
    /// The node's number, from 1 on without gaps.
    pub(crate) number: u32,
    /// The parent's number, which is lower; [`ROOT`] for a node without a parent.
    pub(crate) parent: u32,
    /// A run-time address, or a place; 0 for a node that was not complete when it was read. Such a node has no
    /// children.
    pub(crate) address: u64,
    /// Whether the run-time address was counted while a thread was in `dlclose`.
    pub(crate) is_while_closing: bool,
    /// The ticks without those of the nodes below.
    pub(crate) ticks: u64,
}

/// An address, or a place, without the mark of addresses that were counted while a thread was in `dlclose`.
pub(super) fn without_mark(address: u64) -> u64 {
    if address & PLACE == 0 { address & !WHILE_CLOSING } else { address }
}

/// Whether an address of a node, also without the mark, is one of an object that can be closed.
pub(super) fn can_go(address: u64) -> bool {
    address & PLACE == 0 && !stays(without_mark(address) as usize)
}

/// A hash of a parent and an address. The upper half of the product depends on all bits of both.
fn hash(parent: u32, address: u64) -> usize {
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    const OTHER: u64 = 0xd6e8_feb8_6659_fd93;
    let product = (u64::from(parent).wrapping_mul(OTHER) ^ address).wrapping_mul(GOLDEN_RATIO);
    (product >> 32) as usize
}

impl Segment<'_> {
    /// Looks for a node of this segment.
    fn find(&self, parent: u32, address: u64) -> Option<u32> {
        let head = self.heads.get(hash(parent, address) & (self.heads.len() - 1))?;
        let mut number = head.load(Acquire);
        while number != ROOT {
            let node = self.nodes.get(position(number).1)?;
            if node.address.load(Relaxed) == address && node.parent.load(Relaxed) == parent {
                return Some(number);
            }
            number = node.next.load(Relaxed);
        }
        None
    }
}

impl ContextTree {
    /// The child of a node with this address. If there is none, the child is added, unless the tree has `most` nodes or
    /// there is no memory. Async-signal-safe.
    pub(super) fn child(&self, parent: u32, address: u64, most: u32) -> Option<u32> {
        let segments = (0..).map_while(|number| self.segment(number));
        let found = segments.into_iter().find_map(|segment| segment.find(parent, address));
        found.or_else(|| self.add(parent, address, most))
    }

    /// Takes a number for a new node, once there is memory for the node.
    fn take_number(&self, most: u32) -> Option<u32> {
        let mut last = self.nodes.load(Relaxed);
        loop {
            let number = last.checked_add(1).filter(|number| *number <= most)?;
            self.segment_or_new(position(number).0)?;
            match self.nodes.compare_exchange_weak(last, number, SeqCst, Relaxed) {
                Ok(_) => return Some(number),
                Err(now) => last = now,
            }
        }
    }

    fn add(&self, parent: u32, address: u64, most: u32) -> Option<u32> {
        let number = self.take_number(most)?;
        let (segment, index) = position(number);
        let segment = self.segment(segment)?;
        let node = segment.nodes.get(index)?;
        node.parent.store(parent, Relaxed);
        node.address.store(address, Release);
        if can_go(address)
            && let Some(group) = self.unsettled.get((number / GROUP) as usize)
        {
            group.store(true, SeqCst);
        }
        let head = segment.heads.get(hash(parent, address) & (segment.heads.len() - 1))?;
        let mut first = head.load(Relaxed);
        loop {
            node.next.store(first, Relaxed);
            match head.compare_exchange_weak(first, number, SeqCst, Relaxed) {
                Ok(_) => return Some(number),
                Err(now) => first = now,
            }
        }
    }

    /// Takes a node out of its hash list, before its address changes. Otherwise the list would grow with each object
    /// that is loaded at the same addresses. Only one thread may do this; others may look for nodes.
    pub(super) fn unlink(&self, number: u32) -> Option<()> {
        let (segment, index) = position(number);
        let segment = self.segment(segment)?;
        let node = segment.nodes.get(index)?;
        let (parent, address) = (node.parent.load(Relaxed), node.address.load(Relaxed));
        let head = segment.heads.get(hash(parent, address) & (segment.heads.len() - 1))?;
        let next = node.next.load(Relaxed);
        let mut before = match head.compare_exchange(number, next, SeqCst, Acquire) {
            Ok(_) => return Some(()),
            Err(first) => segment.nodes.get(position(first).1)?,
        };
        loop {
            match before.next.load(Relaxed) {
                ROOT => return None,
                found if found == number => break before.next.store(next, Release),
                other => before = segment.nodes.get(position(other).1)?,
            }
        }
        Some(())
    }

    /// Adds ticks to a node.
    pub(super) fn count(&self, node: u32, ticks: u32) {
        if let Some(node) = self.node(node) {
            // The ticks are in the bins already: see `frozen`.
            node.ticks.fetch_add(u64::from(ticks), Release);
        }
    }

    /// Whether there is a node.
    pub(super) fn has_nodes(&self) -> bool {
        self.nodes.load(SeqCst) > 0
    }

    /// Passes every node to `each`, parents before their children.
    pub(super) fn each(&self, mut each: impl FnMut(&ContextNode, NodeRef)) {
        self.each_of(1..=self.nodes.load(SeqCst), &mut each);
    }

    /// Passes the nodes of each group that may have a run-time address in an object that can be closed. The result of
    /// `each` is whether the node still has one.
    pub(super) fn each_unsettled(&self, mut each: impl FnMut(&ContextNode, NodeRef) -> bool) {
        let last = self.nodes.load(SeqCst);
        for (first, group) in (0..).step_by(GROUP as usize).zip(&self.unsettled) {
            if first <= last && group.swap(false, SeqCst) {
                let mut any = false;
                self.each_of(first.max(1)..=last.min(first + GROUP - 1), &mut |node, read| any |= each(node, read));
                if any {
                    group.store(true, SeqCst);
                }
            }
        }
    }

    pub(super) fn each_of(&self, numbers: RangeInclusive<u32>, each: &mut impl FnMut(&ContextNode, NodeRef)) {
        for number in numbers {
            let Some(node) = self.node(number) else { return };
            // The address is read first: a node with an address has its parent.
            let address = node.address.load(Acquire);
            let parent = if address == 0 { ROOT } else { node.parent.load(Relaxed) };
            let is_while_closing = address & (PLACE | WHILE_CLOSING) == WHILE_CLOSING;
            let address = without_mark(address);
            each(node, NodeRef { number, parent, address, is_while_closing, ticks: node.ticks.load(Acquire) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::thread;

    use super::super::storage::{Contexts, MOST_NODES};
    use super::*;

    /// The ticks of each chain, as addresses from the outermost on.
    fn chains(tree: &ContextTree) -> HashMap<Vec<u64>, u64> {
        let (mut chains, mut found) = (vec![vec![]], HashMap::new());
        tree.each(|_, node| {
            assert!(node.parent < node.number && node.number as usize == chains.len());
            let chain = [&chains[node.parent as usize][..], &[node.address]].concat();
            *found.entry(chain.clone()).or_insert(0) += node.ticks;
            chains.push(chain);
        });
        found
    }

    #[test]
    fn a_chain_is_one_path_however_often_it_is_added() {
        let contexts = Contexts::new();
        let tree = &contexts.tree;
        let add = |chain: &[u64], ticks| {
            let node = chain.iter().fold(ROOT, |node, address| tree.child(node, *address, MOST_NODES).unwrap());
            tree.count(node, ticks);
            node
        };
        for _ in 0..3 {
            assert_eq!([add(&[1, 2, 3], 1), add(&[1, 2], 10), add(&[2, 3], 100)], [3, 2, 5]);
        }
        let expected = [(vec![1], 0), (vec![1, 2], 30), (vec![1, 2, 3], 3), (vec![2], 0), (vec![2, 3], 300)];
        assert_eq!(chains(tree), HashMap::from(expected));
    }

    #[test]
    fn threads_that_add_the_same_nodes_lose_no_tick() {
        const THREADS: u64 = 4;
        const CHAINS: u64 = 20_000;
        let contexts = Contexts::new();
        let add = |first: u64| {
            for chain in 0..CHAINS {
                // Some nodes are of all threads, others of one thread.
                let parts = [chain % 7, chain % 1000, if chain % 2 == 0 { first } else { 0 } | chain << 8];
                let add = |node, part| contexts.tree.child(node, 0x1000 + part, MOST_NODES).unwrap();
                contexts.tree.count(parts.into_iter().fold(ROOT, add), 1);
            }
        };
        thread::scope(|scope| (1..=THREADS).for_each(|first| drop(scope.spawn(move || add(first)))));
        let chains = chains(&contexts.tree);
        assert_eq!(chains.values().sum::<u64>(), THREADS * CHAINS);
        assert_eq!(chains.values().filter(|ticks| **ticks == 1).count() as u64, THREADS * CHAINS / 2);
        assert_eq!(chains.values().filter(|ticks| **ticks == THREADS).count() as u64, CHAINS / 2);
    }

    #[test]
    fn a_node_that_is_taken_out_of_its_list_is_not_found_again() {
        let contexts = Contexts::new();
        let tree = &contexts.tree;
        assert!(!tree.has_nodes());
        let first = tree.child(ROOT, 1, MOST_NODES).unwrap();
        assert!(tree.has_nodes());
        // Nodes of one hash list.
        let (segment, _) = position(first);
        let mask = tree.segment(segment).unwrap().heads.len() - 1;
        let home = |address: u64| hash(ROOT, address) & mask;
        let same = (2..).filter(|address| home(*address) == home(1)).take(3);
        let addresses: Vec<u64> = std::iter::once(1).chain(same).collect();
        let find = |address: &u64| tree.child(ROOT, *address, MOST_NODES).unwrap();
        let numbers: Vec<_> = addresses.iter().map(find).collect();
        for out in 0..numbers.len() {
            let mut before: Vec<_> = addresses.iter().map(find).collect();
            assert!(tree.unlink(before[out]).is_some() && tree.unlink(before[out]).is_none());
            let after: Vec<_> = addresses.iter().map(find).collect();
            assert!(after[out] > *before.iter().max().unwrap(), "a new node");
            before[out] = after[out];
            assert_eq!(before, after);
        }
    }

    #[test]
    fn each_node_without_a_place_is_passed_once_until_it_has_one() {
        let contexts = Contexts::new();
        let tree = &contexts.tree;
        let last = 2 * GROUP + 5;
        (1..=last).for_each(|node| assert_eq!(tree.child(ROOT, u64::from(node) << 4, MOST_NODES), Some(node)));
        let passed = |is_left: &dyn Fn(u32) -> bool| {
            let mut passed = Vec::new();
            tree.each_unsettled(|_, node| {
                passed.push(node.number);
                is_left(node.number)
            });
            passed
        };
        assert_eq!(passed(&|node| node > GROUP), (1..=last).collect::<Vec<_>>());
        assert_eq!(passed(&|node| node == last), (GROUP..=last).collect::<Vec<_>>());
        assert_eq!(passed(&|_| false), (2 * GROUP..=last).collect::<Vec<_>>());
        assert_eq!(passed(&|_| false), []);
    }
}
