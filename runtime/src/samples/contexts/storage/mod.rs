//! The memory of the tree of calling contexts, and of what belongs to the tree: the sums, the list of threads, and
//! their copies in the live side file. `live_nodes` and `live_parts` are the parts of that file that the process
//! changes in memory.

mod live_changes;
mod live_nodes;
mod live_parts;
mod nodes;
mod thread_list;

use core::ffi::c_void;
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, SeqCst},
};

use gmon::layout::side_file::REASONS;

use crate::memory::Memory;
use crate::os::{WALKS_STACKS, clear, map, unmap};
use crate::state::{Reset, Resettable, resets};

pub(crate) use live_changes::{encode_object, key_of};
use live_nodes::LiveNodes;
use live_parts::Sums;
pub(crate) use live_parts::{Changing, LiveParts, size_of_parts};
pub(crate) use nodes::ContextNode;
use nodes::{FIRST, SEGMENTS, nodes_in};
use thread_list::ThreadList;
pub(crate) use thread_list::{NAMES, OTHERS, THREADS, ThreadEntry};

resets! {
    /// The calling contexts of all ticks.
    pub(crate) static CONTEXTS: Reset<Contexts> = Reset::new();
}

/// Marks the address of a node as a place: the object is in the bits from [`OBJECT_SHIFT`] on, the address in the
/// object in the bits below.
pub(crate) const PLACE: u64 = 1 << 63;
/// Marks an address that was counted while a thread was in `dlclose`: an object that is loaded at that moment may have
/// the address of an object that is just gone.
pub(crate) const WHILE_CLOSING: u64 = 1 << 62;
/// The lowest bit of the object's number.
pub(crate) const OBJECT_SHIFT: u32 = 48;

/// The most nodes, and the highest number of a node.
pub(crate) const MOST_NODES: u32 = (FIRST << SEGMENTS) as u32 - FIRST as u32 - 1;
/// The nodes of a group. [`ContextTree::unsettled`] has a mark for each group.
pub(crate) const GROUP: u32 = 1024;
const GROUPS: usize = (MOST_NODES / GROUP) as usize + 1;

/// Nodes, and the heads of their hash lists. There are as many heads as nodes, a power of two. A list has only nodes of
/// its own segment.
pub(crate) struct Segment<'a> {
    pub(crate) heads: &'a [AtomicU32],
    pub(crate) nodes: &'a [ContextNode],
}

/// The tree. Nodes have numbers from 1 on; 0 is the root, which is not stored. Nodes never move and are never removed.
pub(crate) struct ContextTree {
    /// The heads of the lists, and behind them the nodes, unless these are in the live side file.
    segments: [AtomicPtr<c_void>; SEGMENTS],
    pub(crate) live: LiveNodes,
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

fn size_of_heads(segment: usize) -> usize {
    nodes_in(segment) * size_of::<AtomicU32>()
}

fn size_of_segment(segment: usize) -> usize {
    size_of_heads(segment) + nodes_in(segment) * size_of::<ContextNode>()
}

impl ContextTree {
    const fn new() -> ContextTree {
        ContextTree {
            segments: [const { AtomicPtr::new(ptr::null_mut()) }; SEGMENTS],
            live: LiveNodes::none(),
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
        let (length, in_file) = (nodes_in(number), self.live.nodes(number));
        // SAFETY: the memory has this size and is aligned to a page, or to a node in the live file; zeros are valid
        // heads and nodes. The memory is never freed.
        unsafe {
            let nodes = if in_file.is_null() { start.byte_add(size_of_heads(number)).cast() } else { in_file };
            let heads = slice::from_raw_parts(start.cast(), length);
            Some(Segment { heads, nodes: slice::from_raw_parts(nodes, length) })
        }
    }

    /// A segment, which is mapped if necessary; `None` if there is no memory, or no room in the live side file.
    /// Async-signal-safe.
    pub(crate) fn segment_or_new(&self, number: usize) -> Option<Segment<'_>> {
        let place = self.segments.get(number)?;
        if place.load(Relaxed).is_null() {
            // The nodes are mapped before the heads, so whoever finds the heads finds the nodes.
            let size = if self.live.map(number)? { size_of_heads(number) } else { size_of_segment(number) };
            let memory = map(size);
            if !memory.is_null() && place.compare_exchange(ptr::null_mut(), memory, SeqCst, SeqCst).is_err() {
                // SAFETY: mapped above, and nobody else knows the memory.
                unsafe { unmap(memory, size) };
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
            if start.is_null() {
                continue;
            }
            if self.live.nodes(number).is_null() {
                // SAFETY: all of the memory that was mapped; the child of a fork has no other thread.
                unsafe { clear(start, size_of_segment(number)) };
            } else {
                // The nodes stay in the file of the parent.
                place.store(ptr::null_mut(), SeqCst);
                // SAFETY: as above; nobody uses the memory any more.
                unsafe { unmap(start, size_of_heads(number)) };
            }
        }
        self.live.leave();
    }
}

/// The ticks of the tree and of the sums at one moment, for a file that is being written.
pub(crate) struct Frozen {
    pub(crate) is_frozen: AtomicBool,
    /// The number of nodes at that moment.
    pub(crate) nodes: AtomicU32,
    /// The ticks of these nodes, mapped as long as the file is being written; null without memory.
    pub(crate) ticks: AtomicPtr<c_void>,
    pub(crate) cuts: [AtomicU64; REASONS],
}

impl Frozen {
    const fn new() -> Frozen {
        Frozen {
            is_frozen: AtomicBool::new(false),
            nodes: AtomicU32::new(0),
            ticks: AtomicPtr::new(ptr::null_mut()),
            cuts: [const { AtomicU64::new(0) }; REASONS],
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
    /// The sums of ticks, unless they are in the live side file.
    own_sums: Sums,
    pub(crate) live: LiveParts,
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
            own_sums: Sums::new(),
            live: LiveParts::new(),
            frozen: Frozen::new(),
            buffers: Memory::none(),
            threads: ThreadList::new(),
            walks: AtomicU32::new(0),
            walkers: [const { AtomicUsize::new(0) }; u32::BITS as usize],
            frames_used: AtomicI64::new(0),
            has_closing: AtomicBool::new(false),
        }
    }

    /// The sums of ticks.
    pub(crate) fn sums(&self) -> &Sums {
        // SAFETY: null, or the part of the live side file, which stays mapped.
        unsafe { self.live.sums.load(Acquire).as_ref() }.unwrap_or(&self.own_sums)
    }

    /// The ticks of which no stack is known, by the code of the reason.
    pub(crate) fn cuts(&self) -> &[AtomicU64; REASONS] {
        &self.sums().cuts
    }

    /// Uses the live side file no more, because its nodes cannot be mapped. Call this before any tick is counted.
    pub(crate) fn give_up_file(&self) {
        self.tree.clear();
        self.live.forget();
    }

    /// Copies nodes and sums from the live side file to memory of their own, so that the file can be emptied. The
    /// result is false if there is no memory for that; then nothing has changed. Call this when no ticks are counted
    /// any more.
    pub(crate) fn leave_file(&self) -> bool {
        if !self.tree.live.copy() {
            return false;
        }
        if self.live.is_there() {
            self.own_sums.outside.store(self.sums().outside.load(SeqCst), SeqCst);
            self.own_sums.cuts.iter().zip(self.cuts()).for_each(|(own, cut)| own.store(cut.load(SeqCst), SeqCst));
            self.live.forget();
        }
        true
    }
}

/// A child removes all nodes and ticks, and keeps the memory. The walks of other threads do not go on in the child.
impl Resettable for Contexts {
    const VALUE: Contexts = Contexts::new();

    #[inline(always)]
    fn reset(&self) {
        if !WALKS_STACKS {
            return;
        }
        let Contexts { tree, own_sums, live, frozen, buffers: _, threads, walks, walkers, frames_used, has_closing } =
            self;
        tree.clear();
        live.forget();
        frozen.clear();
        threads.clear();
        own_sums.outside.store(0, SeqCst);
        own_sums.cuts.iter().for_each(|cut| cut.store(0, SeqCst));
        walks.store(0, SeqCst);
        walkers.iter().for_each(|walker| walker.store(0, SeqCst));
        frames_used.store(0, SeqCst);
        has_closing.store(false, SeqCst);
    }

    #[cfg(test)]
    fn change(&self) {
        let Contexts { tree, own_sums, live, frozen, buffers: _, threads, walks, walkers, frames_used, has_closing } =
            self;
        tree.change();
        own_sums.outside.store(3, SeqCst);
        own_sums.cuts.iter().for_each(|cut| cut.store(3, SeqCst));
        live.change_all();
        frozen.change();
        threads.change();
        walks.store(3, SeqCst);
        walkers.iter().for_each(|walker| walker.store(3, SeqCst));
        frames_used.store(3, SeqCst);
        has_closing.store(true, SeqCst);
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        let Contexts { tree, own_sums, live, frozen, buffers: _, threads, walks, walkers, frames_used, has_closing } =
            self;
        let are_all_zero = |numbers: &[AtomicU64]| numbers.iter().all(|number| number.load(SeqCst) == 0);
        tree.is_first()
            && live.is_first()
            && frozen.is_first()
            && threads.is_first()
            && own_sums.outside.load(SeqCst) == 0
            && are_all_zero(&own_sums.cuts)
            && walks.load(SeqCst) == 0
            && walkers.iter().all(|walker| walker.load(SeqCst) == 0)
            && frames_used.load(SeqCst) == 0
            && !has_closing.load(SeqCst)
    }
}

#[cfg(test)]
impl ContextTree {
    fn change(&self) {
        let ContextTree { segments: _, live, nodes, unsettled } = self;
        nodes.store(3000, SeqCst);
        for number in [0, 1] {
            let segment = self.segment_or_new(number).unwrap();
            segment.heads[7].store(7, SeqCst);
        }
        for number in [1, 3000] {
            self.node(number).unwrap().ticks.store(7, SeqCst);
        }
        unsettled.iter().for_each(|group| group.store(true, SeqCst));
        live.file.change();
    }

    fn is_first(&self) -> bool {
        let ContextTree { segments, live, nodes, unsettled } = self;
        let is_empty = |number| {
            let Some(Segment { heads, nodes }) = self.segment(number) else { return true };
            heads.iter().all(|head| head.load(SeqCst) == 0) && nodes.iter().all(ContextNode::is_unused)
        };
        (0..segments.len()).all(is_empty)
            && live.is_left()
            && nodes.load(SeqCst) == 0
            && unsettled.iter().all(|group| !group.load(SeqCst))
    }
}

#[cfg(test)]
impl Frozen {
    fn change(&self) {
        let Frozen { is_frozen, nodes, ticks, cuts: _ } = self;
        is_frozen.store(true, SeqCst);
        nodes.store(3, SeqCst);
        ticks.store(map(3 * size_of::<u64>()), SeqCst);
    }

    fn is_first(&self) -> bool {
        let Frozen { is_frozen, nodes: _, ticks, cuts: _ } = self;
        !is_frozen.load(SeqCst) && ticks.load(SeqCst).is_null()
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
