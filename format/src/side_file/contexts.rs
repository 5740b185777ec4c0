//! The tree of calling contexts.

use alloc::vec;
use alloc::vec::Vec;
use core::iter;

use crate::encode::side_file::{CutReason, Place};
use crate::layout::side_file::CUT;

/// The calling contexts of the samples: a tree of which every path from the top is a chain of callers.
///
/// A parent is before its children. The parts of a tree that have no parent are the outermost frames, or the
/// [threads](crate::side_file::THREAD). Below a node of [`CUT`](crate::side_file::CUT) hang the inner parts of chains
/// whose outer part is not known. The same place may occur more than once below one parent: the ticks add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextTree {
    pub(super) nodes: Vec<Node>,
    /// The sum of all ticks.
    pub(super) total: u64,
}

/// A node of the tree: a place with all its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) parent: u32,
    pub(super) object: u32,
    pub(super) address: u64,
    pub(super) ticks: u64,
}

/// The parent of a node without a parent.
pub(super) const NO_PARENT: u32 = u32::MAX;

impl Node {
    pub(super) fn new(parent: Option<usize>, place: Place, ticks: u64) -> Option<Node> {
        let parent = match parent {
            Some(parent) => u32::try_from(parent).ok().filter(|parent| *parent != NO_PARENT)?,
            None => NO_PARENT,
        };
        Some(Node { parent, object: place.object, address: place.address, ticks })
    }

    /// The index of the caller's node; `None` for an outermost node.
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        (self.parent != NO_PARENT).then_some(self.parent as usize)
    }

    /// The place. In a caller, it is the return address of the call; in the innermost frame of a sample, it is the
    /// program counter. A node may be both.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { object: self.object, address: self.address }
    }

    /// The ticks of this very place. The ticks of its callees are in the nodes below.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// The reason, if the chains below the node are cut.
    #[must_use]
    pub fn cut(&self) -> Option<CutReason> {
        let code = u32::try_from(self.address).ok().filter(|_| self.object == CUT);
        code.map(CutReason::from_code)
    }
}

impl ContextTree {
    /// The nodes, each after its parent.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The sum of all ticks.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The ticks of each node and of all nodes below.
    #[must_use]
    pub fn inclusive(&self) -> Vec<u64> {
        let mut ticks: Vec<u64> = self.nodes.iter().map(Node::ticks).collect();
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let Some(below) = ticks.get(index).copied() else { continue };
            if let Some(all) = node.parent().and_then(|parent| ticks.get_mut(parent)) {
                // The sum of the whole tree fits.
                *all = all.saturating_add(below);
            }
        }
        ticks
    }

    /// The node with this index, its caller, and so on to the outermost.
    pub fn callers(&self, index: usize) -> impl Iterator<Item = &Node> {
        let first = self.nodes.get(index);
        iter::successors(first, |node| self.nodes.get(node.parent()?))
    }

    /// For each node the reason, if the chain is cut that the node belongs to.
    #[must_use]
    pub fn cuts(&self) -> Vec<Option<CutReason>> {
        let mut cuts = vec![None; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            let inherited = node.parent().and_then(|parent| cuts.get(parent).copied().flatten());
            if let Some(cut) = cuts.get_mut(index) {
                *cut = inherited.or(node.cut());
            }
        }
        cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_small() {
        assert_eq!(size_of::<Node>(), 24);
        assert_eq!(Node::new(Some(NO_PARENT as usize), Place::default(), 0), None);
    }
}
