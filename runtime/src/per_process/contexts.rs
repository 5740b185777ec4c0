//! The memory of the tree of calling contexts.

use core::ffi::c_void;
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, SeqCst},
};

use super::memory::Memory;
use super::threads::ThreadList;
use crate::os::{clear, map, unmap};

/// A node of the tree, as a part NODE of a live side file has it. A node of zeros is not used.
#[repr(C)]
pub(crate) struct ContextNode {
    /// The run-time address of code, or a place: see [`PLACE`]. Stored last: a node with an address has a parent.
    pub(crate) address: AtomicU64,
    /// The number of the parent, which is lower than the node's own; 0 for the root.
    pub(crate) parent: AtomicU32,
    /// The number of the next node with the same hash; 0 at the end.
    pub(crate) next: AtomicU32,
    /// The ticks, without those of the nodes below.
    pub(crate) ticks: AtomicU64,
}

/// Marks the address of a node as a place: the object is in the bits from [`OBJECT_SHIFT`] on, the address in the object
/// in the bits below.
pub(crate) const PLACE: u64 = 1 << 63;
/// Marks an address that was counted while a thread was in `dlclose`: an object that is loaded at that moment may have the
/// address of an object that is just gone.
pub(crate) const WHILE_CLOSING: u64 = 1 << 62;
/// The lowest bit of the object's number.
pub(crate) const OBJECT_SHIFT: u32 = 48;

/// The nodes of the first segment. Each further segment has twice as many nodes as the one before.
const FIRST: u64 = 1024;
/// The most segments: 28 MB in all. A program whose calls take ever new paths would otherwise use up all memory.
const SEGMENTS: usize = 10;
/// The most nodes, and the highest number of a node.
pub(crate) const MOST_NODES: u32 = (FIRST << SEGMENTS) as u32 - FIRST as u32 - 1;
/// The nodes of a group. [`ContextTree::unsettled`] has a mark for each group.
pub(crate) const GROUP: u32 = 1024;
const GROUPS: usize = (MOST_NODES / GROUP) as usize + 1;
/// The reasons for which ticks have no stack, and their codes, are below this.
const CUT_REASONS: usize = 16;

/// Nodes, and the heads of their hash lists. There are as many heads as nodes, a power of two. A list has only nodes of its
/// own segment.
pub(crate) struct Segment<'a> {
    pub(crate) heads: &'a [AtomicU32],
    pub(crate) nodes: &'a [ContextNode],
}

/// The tree. Nodes have numbers from 1 on; 0 is the root, which is not stored. Nodes never move and are never removed.
pub(crate) struct ContextTree {
    segments: [AtomicPtr<c_void>; SEGMENTS],
    /// The number of nodes, some of which may not be complete yet.
    pub(crate) nodes: AtomicU32,
    /// Whether a node of a group may have a run-time address in an object that can be closed.
    pub(crate) unsettled: [AtomicBool; GROUPS],
}

/// The segment of a node, and the node's index in the segment.
pub(crate) fn position(node: u32) -> (usize, usize) {
    let behind = u64::from(node) + FIRST;
    let segment = behind.ilog2() - FIRST.ilog2();
    (segment as usize, (behind - (FIRST << segment)) as usize)
}

fn nodes_in(segment: usize) -> usize {
    (FIRST as usize) << segment
}

fn size_of_segment(segment: usize) -> usize {
    nodes_in(segment) * (size_of::<AtomicU32>() + size_of::<ContextNode>())
}

impl ContextTree {
    const fn new() -> ContextTree {
        ContextTree {
            segments: [const { AtomicPtr::new(ptr::null_mut()) }; SEGMENTS],
            nodes: AtomicU32::new(0),
            unsettled: [const { AtomicBool::new(false) }; GROUPS],
        }
    }

    /// A segment; `None` if no node was ever in the segment.
    pub(crate) fn segment(&self, number: usize) -> Option<Segment<'_>> {
        let start = self.segments.get(number)?.load(Acquire);
        if start.is_null() {
            return None;
        }
        let nodes = nodes_in(number);
        // SAFETY: the memory has this size and is aligned to a page; zeros are valid heads and nodes. The memory is never
        // freed.
        unsafe {
            let heads = slice::from_raw_parts(start.cast(), nodes);
            let behind = start.byte_add(nodes * size_of::<AtomicU32>());
            Some(Segment { heads, nodes: slice::from_raw_parts(behind.cast(), nodes) })
        }
    }

    /// A segment, which is mapped if necessary; `None` if there is no memory. Async-signal-safe.
    pub(crate) fn segment_or_new(&self, number: usize) -> Option<Segment<'_>> {
        let place = self.segments.get(number)?;
        if place.load(Relaxed).is_null() {
            let memory = map(size_of_segment(number));
            if !memory.is_null() && place.compare_exchange(ptr::null_mut(), memory, SeqCst, SeqCst).is_err() {
                // SAFETY: mapped above, and nobody else knows the memory.
                unsafe { unmap(memory, size_of_segment(number)) };
            }
        }
        self.segment(number)
    }

    /// The node with this number; `None` if there was never a node in its segment.
    pub(crate) fn node(&self, number: u32) -> Option<&ContextNode> {
        let (segment, index) = position(number);
        self.segment(segment)?.nodes.get(index)
    }

    fn clear(&self) {
        self.nodes.store(0, SeqCst);
        self.unsettled.iter().for_each(|group| group.store(false, SeqCst));
        for (number, place) in self.segments.iter().enumerate() {
            let start = place.load(SeqCst);
            if !start.is_null() {
                // SAFETY: all of the memory that was mapped; the child of a fork has no other thread.
                unsafe { clear(start, size_of_segment(number)) };
            }
        }
    }
}

/// The ticks of the tree and of the sums at one moment, for a file that is being written.
pub(crate) struct Frozen {
    pub(crate) is_frozen: AtomicBool,
    /// The number of nodes at that moment.
    pub(crate) nodes: AtomicU32,
    /// The ticks of these nodes, mapped as long as the file is being written; null without memory.
    pub(crate) ticks: AtomicPtr<c_void>,
    pub(crate) cuts: [AtomicU64; CUT_REASONS],
}

impl Frozen {
    const fn new() -> Frozen {
        Frozen {
            is_frozen: AtomicBool::new(false),
            nodes: AtomicU32::new(0),
            ticks: AtomicPtr::new(ptr::null_mut()),
            cuts: [const { AtomicU64::new(0) }; CUT_REASONS],
        }
    }

    /// Forgets the ticks.
    pub(crate) fn clear(&self) {
        self.is_frozen.store(false, SeqCst);
        let (ticks, nodes) = (self.ticks.swap(ptr::null_mut(), SeqCst), self.nodes.load(SeqCst));
        if !ticks.is_null() {
            // SAFETY: mapped for this number of nodes, by the thread that writes the file and calls this.
            unsafe { unmap(ticks, nodes as usize * size_of::<u64>()) };
        }
    }
}

/// The calling contexts of a process's ticks.
pub(crate) struct Contexts {
    pub(crate) tree: ContextTree,
    /// The ticks of which no stack is known, by the code of the reason.
    pub(crate) cuts: [AtomicU64; CUT_REASONS],
    /// The ticks for the file that is being written.
    pub(crate) frozen: Frozen,
    /// The buffers for walks.
    pub(crate) buffers: Memory,
    /// The threads, if they are told apart.
    pub(crate) threads: ThreadList,
    /// The buffers that are in use, as a bit set.
    pub(crate) walks: AtomicU32,
    /// The thread pointers of the threads that use the buffers.
    pub(crate) walkers: [AtomicUsize; u32::BITS as usize],
    /// The frames that walks had, less those that ticks have brought.
    pub(crate) frames_used: AtomicI64,
    /// Whether nodes were added with [`WHILE_CLOSING`] since the last look at them.
    pub(crate) has_closing: AtomicBool,
}

impl Contexts {
    pub(crate) const fn new() -> Contexts {
        Contexts {
            tree: ContextTree::new(),
            cuts: [const { AtomicU64::new(0) }; CUT_REASONS],
            frozen: Frozen::new(),
            buffers: Memory::none(),
            threads: ThreadList::new(),
            walks: AtomicU32::new(0),
            walkers: [const { AtomicUsize::new(0) }; u32::BITS as usize],
            frames_used: AtomicI64::new(0),
            has_closing: AtomicBool::new(false),
        }
    }

    /// Removes all nodes and ticks, and keeps the memory. The walks of other threads do not go on in a forked child.
    pub(super) fn clear(&self) {
        let Contexts { tree, cuts, frozen, buffers: _, threads, walks, walkers, frames_used, has_closing } = self;
        tree.clear();
        frozen.clear();
        threads.clear();
        cuts.iter().for_each(|cut| cut.store(0, SeqCst));
        walks.store(0, SeqCst);
        walkers.iter().for_each(|walker| walker.store(0, SeqCst));
        frames_used.store(0, SeqCst);
        has_closing.store(false, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        assert_eq!([position(0), position(1023), position(1024)], [(0, 0), (0, 1023), (1, 0)]);
        let mut next = 0;
        for segment in 0..SEGMENTS {
            assert_eq!(position(next), (segment, 0));
            next += nodes_in(segment) as u32;
            assert_eq!(position(next - 1), (segment, nodes_in(segment) - 1));
        }
        assert_eq!(next, MOST_NODES + 1);
        assert!((0..SEGMENTS).map(size_of_segment).sum::<usize>() <= 28 << 20);
    }
}
