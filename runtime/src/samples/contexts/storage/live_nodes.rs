//! The nodes of the tree of calling contexts in the live side file.
//!
//! Each segment of the tree is a part of the file, at a place that follows from its number. So two threads that map the
//! same segment at the same time do the same, and the second mapping is removed.

use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Acquire, Relaxed, SeqCst},
};

use gmon::layout::side_file::{FILLER, PART_HEADER_SIZE, RAW_NODES};

use super::live_parts::PartHeader;
use super::nodes::{ContextNode, SEGMENTS, nodes_in};
use crate::memory::OpenFile;
use crate::os::{LARGEST_PAGE, map, map_file, unmap};

/// What stands before the nodes: the header of the part, and the number of the first node. It is as long as a node.
const BEFORE: usize = PART_HEADER_SIZE + size_of::<u64>();

/// The nodes in the live side file.
pub(crate) struct LiveNodes {
    /// The file, if new segments are to be mapped there.
    pub(crate) file: OpenFile,
    /// The offset of the first segment in the file, in whole pages.
    pub(crate) offset: AtomicUsize,
    /// The nodes of each segment that is or was in the file; null for others.
    segments: [AtomicPtr<ContextNode>; SEGMENTS],
}

/// The bytes of a segment in the file: what stands before the nodes, the nodes, and a filler.
fn size_in_file(segment: usize) -> usize {
    (BEFORE + nodes_in(segment) * size_of::<ContextNode>() + PART_HEADER_SIZE).next_multiple_of(LARGEST_PAGE)
}

impl LiveNodes {
    pub(super) const fn none() -> LiveNodes {
        LiveNodes {
            file: OpenFile::none(),
            offset: AtomicUsize::new(0),
            segments: [const { AtomicPtr::new(ptr::null_mut()) }; SEGMENTS],
        }
    }

    /// The nodes of a segment; null if they are not here.
    pub(super) fn nodes(&self, segment: usize) -> *mut ContextNode {
        self.segments.get(segment).map_or(ptr::null_mut(), |nodes| nodes.load(Acquire))
    }

    /// Maps a segment. The result is false without a live side file, and `None` if there is no room. Async-signal-safe.
    pub(super) fn map(&self, segment: usize) -> Option<bool> {
        if !self.file.is_set() {
            return Some(false);
        }
        let place = self.segments.get(segment)?;
        if place.load(Relaxed).is_null() {
            let size = size_in_file(segment);
            let offset = self.offset.load(Relaxed) + (0..segment).map(size_in_file).sum::<usize>();
            let file = self.file.file()?;
            file.extend(offset, size).ok()?;
            let memory: *mut PartHeader = map_file(file, offset, size).ok()?.cast();
            // SAFETY: memory of this size, which belongs to this segment. Another thread may store the same at the same
            // time.
            let nodes = unsafe { put_part(memory, segment, size) };
            if place.compare_exchange(ptr::null_mut(), nodes, SeqCst, SeqCst).is_err() {
                // SAFETY: mapped above, and nobody else knows the memory.
                unsafe { unmap(memory.cast(), size) };
            }
        }
        Some(true)
    }

    /// Copies all segments to memory that is not the file's, and forgets the file. The result is false if there is no
    /// memory; then all segments stay in the file.
    pub(super) fn copy(&self) -> bool {
        if !self.file.is_set() {
            return true;
        }
        let mut copies = [ptr::null_mut::<ContextNode>(); SEGMENTS];
        for (segment, copy) in copies.iter_mut().enumerate() {
            let nodes = self.nodes(segment);
            if nodes.is_null() {
                continue;
            }
            let memory = map(size_in_file(segment));
            if memory.is_null() {
                return false;
            }
            // SAFETY: memory of the same size for each; nobody else knows the copy.
            unsafe {
                *copy = memory.byte_add(BEFORE).cast();
                ptr::copy_nonoverlapping(nodes.cast::<u64>(), copy.cast(), nodes_in(segment) * 3);
            }
        }
        for (nodes, copy) in self.segments.iter().zip(copies).filter(|(_, copy)| !copy.is_null()) {
            nodes.store(copy, SeqCst);
        }
        let _ = self.file.forget();
        true
    }

    /// Forgets the file and all segments, which nobody uses any more.
    pub(super) fn leave(&self) {
        let _ = self.file.forget();
        for (segment, nodes) in self.segments.iter().enumerate() {
            let nodes = nodes.swap(ptr::null_mut(), SeqCst);
            if !nodes.is_null() {
                // SAFETY: all of the memory that was mapped for the segment.
                unsafe { unmap(nodes.byte_sub(BEFORE).cast(), size_in_file(segment)) };
            }
        }
    }
}

#[cfg(test)]
impl LiveNodes {
    /// Whether there is neither a file nor a segment in a file.
    pub(super) fn is_left(&self) -> bool {
        let LiveNodes { file, offset: _, segments } = self;
        !file.is_set() && segments.iter().all(|nodes| nodes.load(SeqCst).is_null())
    }
}

/// Makes the part of a segment, and returns the address of its nodes.
///
/// # Safety
///
/// The memory must be that of the segment, with `size` bytes, and nobody may store anything else there than this
/// function.
unsafe fn put_part(memory: *mut PartHeader, segment: usize, size: usize) -> *mut ContextNode {
    let length = nodes_in(segment) * size_of::<ContextNode>();
    let first: usize = (0..segment).map(nodes_in).sum();
    // SAFETY: the caller's promise; all is inside the memory, at multiples of 8.
    unsafe {
        let nodes = memory.byte_add(BEFORE);
        let filler = nodes.byte_add(length);
        (*filler).set(FILLER, size - BEFORE - length - PART_HEADER_SIZE);
        memory.add(1).cast::<u64>().write_volatile(first as u64);
        (*memory).set(RAW_NODES, size_of::<u64>() + length);
        nodes.cast()
    }
}
