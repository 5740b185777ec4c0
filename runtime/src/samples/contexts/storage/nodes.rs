//! The nodes of the tree of calling contexts, and their segments.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// A node of the tree, as a part NODE of a live side file has it. A node of zeros is not used.
#[repr(C)]
pub(crate) struct ContextNode {
    /// The run-time address of code, or a place: see [`PLACE`](super::PLACE). Stored last: a node with an address has a
    /// parent.
    pub(crate) address: AtomicU64,
    /// The number of the parent, which is lower than the node's own; 0 for the root.
    pub(crate) parent: AtomicU32,
    /// The number of the next node with the same hash; 0 at the end.
    pub(crate) next: AtomicU32,
    /// The ticks, without those of the nodes below.
    pub(crate) ticks: AtomicU64,
}

#[cfg(test)]
impl ContextNode {
    pub(super) fn is_unused(&self) -> bool {
        use core::sync::atomic::Ordering::SeqCst;

        let ContextNode { address, parent, next, ticks } = self;
        [address, ticks].iter().all(|number| number.load(SeqCst) == 0)
            && [parent, next].iter().all(|number| number.load(SeqCst) == 0)
    }
}

/// The nodes of the first segment. Each further segment has twice as many nodes as the one before.
pub(super) const FIRST: u64 = 1024;
/// The most segments: 28 MB in all. A program whose calls take ever new paths would otherwise use up all memory.
pub(super) const SEGMENTS: usize = 10;

/// The number of nodes in a segment.
pub(super) fn nodes_in(segment: usize) -> usize {
    (FIRST as usize) << segment
}
