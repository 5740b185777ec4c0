//! The calling contexts of ticks: a tree of return addresses, grown while the program runs.
//!
//! A node stands for a chain of callers. Its address is the return address in a caller, and for the innermost frame the
//! program counter. If a signal interrupted the caller, and the callee is the handler, the address is that of the interrupted
//! instruction and 1 more: as for a return address, the instruction of the caller is before the address.
//!
//! Every tick is in one node, or in the sum of one reason why no stack is known. So the ticks of the tree and of the sums are
//! the ticks in the bins and outside the program's text.
//!
//! `tree` adds and finds nodes, and `buffers` has the memory of walks. As in [`super::bins`], nothing here takes a lock or
//! calls the C library.

mod buffers;
mod tree;

use core::ffi::c_void;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};

use gmon::encode::side_file::{CutReason, Place};

use crate::os::{WALKS_STACKS, a_moment};
pub(crate) use crate::per_process::PLACE;
use crate::per_process::{Contexts, OBJECT_SHIFT, PER_PROCESS};
use crate::unwind::{Cut, Ending, Frame, Stack, walk_stack};

use buffers::Buffer;
pub(crate) use tree::{NodeRef, ROOT};

/// Whether calling contexts are wanted.
static IS_KEPT: AtomicBool = AtomicBool::new(false);

/// Keeps calling contexts from now on. Called at start-up.
pub(crate) fn keep() {
    if WALKS_STACKS {
        buffers::map(&PER_PROCESS.memory.contexts);
        IS_KEPT.store(true, Relaxed);
    }
}

/// Whether calling contexts are kept.
pub(crate) fn are_kept() -> bool {
    WALKS_STACKS && IS_KEPT.load(Relaxed)
}

/// Counts the ticks that `count_in_bins` counts for the innermost frame of a stack. Called in signal handlers.
pub(super) fn count(stack: Stack<'_>, count_in_bins: impl FnOnce() -> u32) {
    let contexts = &PER_PROCESS.memory.contexts;
    if crate::arch::is_in_valgrind() {
        // Walks ask the kernel which memory can be read, and valgrind would report each question as an error of the program.
        return contexts.count_cut(CutReason::OFF, count_in_bins());
    }
    // Taken before the bins are raised: see `wait_for_walks`.
    let buffer = Buffer::take(contexts);
    let ticks = count_in_bins();
    match buffer {
        _ if ticks == 0 => {}
        Some(buffer) => Walking { contexts, buffer, stack, ticks }.run(),
        None => contexts.count_cut(CutReason::NO_BUFFER, ticks),
    }
}

/// Counts ticks that came without a stack.
pub(super) fn count_without_stack(ticks: u32) {
    if are_kept() && ticks > 0 {
        PER_PROCESS.memory.contexts.count_cut(CutReason::NO_STACK, ticks);
    }
}

/// Waits until no handler walks a stack. Call this when ticks are not counted any more: then every tick in the bins is in the
/// tree too. A handler that was interrupted for good, by a fatal signal of this thread, is not waited for long.
pub(crate) fn wait_for_walks() {
    const MOMENTS: u32 = 100;
    if !are_kept() {
        return;
    }
    let mut moments = 0;
    buffers::wait_for_walks(&PER_PROCESS.memory.contexts, || {
        a_moment();
        moments += 1;
        moments < MOMENTS
    });
}

/// Passes every node of the tree to `each`, parents before their children.
pub(crate) fn each_node(mut each: impl FnMut(NodeRef)) {
    PER_PROCESS.memory.contexts.tree.each(|_, node| each(node));
}

/// Passes the ticks of which no stack is known to `each`, by reason.
pub(crate) fn each_cut(mut each: impl FnMut(CutReason, u64)) {
    for (code, ticks) in (0..).zip(&PER_PROCESS.memory.contexts.cuts) {
        let ticks = ticks.load(Relaxed);
        if ticks > 0 {
            each(CutReason::from_code(code), ticks);
        }
    }
}

/// Whether there are ticks, in the tree or in the sums.
pub(crate) fn has_ticks() -> bool {
    let mut has_ticks = false;
    each_cut(|_, _| has_ticks = true);
    has_ticks || PER_PROCESS.memory.contexts.tree.has_nodes()
}

/// Passes each run-time address to `each`. An address may be in several nodes.
pub(crate) fn each_address(mut each: impl FnMut(usize)) {
    PER_PROCESS.memory.contexts.tree.each(|_, node| {
        if node.address != 0 && node.address & PLACE == 0 {
            each(node.address as usize);
        }
    });
}

/// Replaces run-time addresses by places: `place` returns the place of an address, with the number of the object in the bits
/// from [`OBJECT_SHIFT`] on, or `None` to leave the address as it is. Call this when the code at these addresses is gone.
/// Handlers may add nodes at the same time.
pub(crate) fn settle(mut place: impl FnMut(usize) -> Option<usize>) {
    PER_PROCESS.memory.contexts.tree.each(|node, read| {
        let is_address = read.address != 0 && read.address & PLACE == 0;
        if is_address && let Some(place) = place(read.address as usize) {
            node.address.store(PLACE | place as u64, SeqCst);
        }
    });
}

/// The address of a node.
pub(crate) fn address(number: u32) -> u64 {
    PER_PROCESS.memory.contexts.tree.node(number).map_or(0, |node| node.address.load(Relaxed))
}

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
    }
}

impl Contexts {
    fn count_cut(&self, reason: CutReason, ticks: u32) {
        if let Some(cut) = self.cuts.get(reason.code() as usize) {
            cut.fetch_add(u64::from(ticks), Relaxed);
        }
    }

    /// Counts ticks in the node of a chain, the innermost frame first.
    fn count_chain(&self, frames: &[u64], ending: Ending, ticks: u32) {
        let top = match ending {
            Ending::Outermost => Some(ROOT),
            Ending::Cut(cut) if frames.is_empty() => return self.count_cut(reason(cut), ticks),
            Ending::Cut(cut) => self.tree.child(ROOT, address_of(reason(cut).place())),
        };
        let node = top.and_then(|top| frames.iter().rev().try_fold(top, |node, frame| self.tree.child(node, *frame)));
        match node {
            Some(node) => self.tree.count(node, ticks),
            None => self.count_cut(CutReason::NO_MEMORY, ticks),
        }
    }
}

/// A walk that is under way.
struct Walking<'a> {
    contexts: &'a Contexts,
    buffer: Buffer<'a>,
    stack: Stack<'a>,
    ticks: u32,
}

impl Walking<'_> {
    /// Walks the stack and counts the ticks.
    fn run(mut self) {
        unsafe extern "C" fn on_stack(walking: *mut c_void) {
            // SAFETY: the address of `self` below, to which there is no other reference during the call.
            unsafe { (*walking.cast::<Walking<'_>>()).walk() }
        }
        let walking = (&raw mut self).cast();
        // SAFETY: the function takes the address of a `Walking`.
        unsafe { self.buffer.call(on_stack, walking) };
    }

    fn walk(&mut self) {
        let buffer = &mut self.buffer;
        let mut is_innermost = true;
        let ending = walk_stack(self.stack, |Frame { pc, is_exact }| {
            let is_interrupted_caller = is_exact && !is_innermost;
            is_innermost = false;
            buffer.push(pc as u64 + u64::from(is_interrupted_caller))
        });
        self.contexts.count_chain(buffer.frames(), ending, self.ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nodes as (parent, address, ticks).
    fn nodes(contexts: &Contexts) -> Vec<(u32, u64, u64)> {
        let mut nodes = Vec::new();
        contexts.tree.each(|_, node| nodes.push((node.parent, node.address, node.ticks)));
        nodes
    }

    /// The ticks without a stack, as (code, ticks).
    fn cuts(contexts: &Contexts) -> Vec<(usize, u64)> {
        let cuts = contexts.cuts.iter().map(|cut| cut.load(Relaxed)).enumerate();
        cuts.filter(|(_, ticks)| *ticks > 0).collect()
    }

    #[test]
    fn a_cut_chain_hangs_below_its_reason() {
        let contexts = Contexts::new();
        contexts.count_chain(&[0x30, 0x20, 0x10], Ending::Outermost, 1);
        contexts.count_chain(&[0x30, 0x20], Ending::Cut(Cut::TooDeep), 2);
        contexts.count_chain(&[], Ending::Cut(Cut::Unreadable), 4);
        contexts.count_cut(CutReason::NO_BUFFER, 8);
        let cut = PLACE | 0x7ffc << 48 | 10;
        let expected = [(0, 0x10, 0), (1, 0x20, 0), (2, 0x30, 1), (0, cut, 0), (4, 0x20, 0), (5, 0x30, 2)];
        assert_eq!(nodes(&contexts), expected);
        assert_eq!(cuts(&contexts), [(4, 8), (8, 4)]);
    }

    #[test]
    fn every_buffer_is_taken_once_and_returned() {
        let contexts = Contexts::new();
        assert!(Buffer::take(&contexts).is_none(), "there is no memory");
        buffers::map(&contexts);
        let mut taken: Vec<_> = std::iter::from_fn(|| Buffer::take(&contexts)).collect();
        assert_eq!(taken.len(), 32);
        for (number, buffer) in (0..).zip(&mut taken) {
            assert!((0..4096).all(|frame| buffer.push(number << 16 | frame)) && !buffer.push(0));
        }
        for (number, buffer) in (0..).zip(&taken) {
            assert!(buffer.frames().iter().zip(0..).all(|(found, frame)| *found == number << 16 | frame));
        }
        let mut looks = 0;
        buffers::wait_for_walks(&contexts, || {
            looks += 1;
            taken.pop();
            true
        });
        assert_eq!(looks, 32);
        assert!(Buffer::take(&contexts).is_some());
    }
}
