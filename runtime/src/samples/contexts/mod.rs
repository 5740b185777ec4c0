//! The calling contexts of ticks: a tree of return addresses, grown while the program runs.
//!
//! A node stands for a chain of callers. Its address is the return address in a caller, and for the innermost frame the
//! program counter. If a signal interrupted the caller, and the callee is the handler, the address is that of the
//! interrupted instruction and 1 more: as for a return address, the instruction of the caller is before the address.
//!
//! Every tick is in one node, or in the sum of one reason why no stack is known. So the ticks of the tree and of the
//! sums are the ticks in the bins and outside the program's text.
//!
//! `tree` adds and finds nodes, `chains` counts ticks in them, and `settling` turns addresses into places. `frozen` has
//! the ticks for a file. `live` counts in the live side file. `buffers` has the memory of walks, `budget` bounds their
//! time, and `threads` has the threads of the ticks. As in [`super::bins`], nothing here takes a lock or calls the C
//! library.

mod budget;
mod buffers;
mod chains;
mod frozen;
mod live;
mod settling;
pub(crate) mod storage;
pub(crate) mod threads;
mod tree;

use core::ffi::c_void;
use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};

use gmon::encode::side_file::CutReason;

use super::owner::owner;
use crate::arch::{self, thread_pointer};
use crate::os::linked::sampled;
use crate::os::{WALKS_STACKS, a_moment};
use crate::state::Inherited;
use crate::unwind::{Frame, Memory, Searches, Stack, is_closing, stays, thunks, walk_stack};

use budget::Used;
pub(crate) use budget::set_rate;
use buffers::{Buffer, NoWalks};
pub(crate) use live::{begin_live, is_live, leave_live, reserve_live};
use storage::WHILE_CLOSING;
pub(crate) use storage::{CONTEXTS, Changing, Contexts, LiveParts, OTHERS, PLACE, THREADS, ThreadEntry, size_of_parts};
use tree::without_mark;
pub(crate) use tree::{NodeRef, ROOT};

/// Whether calling contexts are wanted.
static IS_KEPT: Inherited<AtomicBool> = Inherited::new("what the user asked for", AtomicBool::new(false));

/// Whether a sample that hits the runtime while the runtime walks a copied stack gets the callers of the interrupted
/// code. The start-up objects leave this out to stay small.
const KEEPS_READERS: bool = cfg!(any(test, feature = "preload"));

/// Keeps calling contexts from now on. Called at start-up.
///
/// valgrind prints a line for each system call that asks whether memory can be read, and warns about a change of
/// stacks. So programs in valgrind have no contexts.
pub(crate) fn keep() {
    if WALKS_STACKS && !arch::is_in_valgrind() {
        buffers::map(&CONTEXTS);
        IS_KEPT.store(true, Relaxed);
    }
}

/// Tells threads apart from now on. Called at start-up.
pub(crate) fn tell_threads() {
    if WALKS_STACKS {
        CONTEXTS.threads.map();
    }
}

/// What is counted by thread; `None` if threads are not told apart, or there are no contexts.
pub(crate) fn by_thread() -> Option<&'static Contexts> {
    let contexts: &Contexts = &CONTEXTS;
    (are_kept() && !contexts.threads.all().is_empty()).then_some(contexts)
}

/// Sets the name of a thread, padded with zeros, if threads are told apart. `number` is the system's. Called in signal
/// handlers.
#[allow(dead_code, reason = "not all systems report the names of other threads")]
pub(crate) fn name_thread(number: i32, name: [u64; 2]) {
    threads::name(&CONTEXTS, number, name);
}

/// Whether calling contexts are kept.
pub(crate) fn are_kept() -> bool {
    WALKS_STACKS && IS_KEPT.load(Relaxed)
}

/// Counts the ticks that `count_in_bins` counts for the innermost frame of a stack, which `is_outside` of the bins or
/// not. Called in signal handlers.
pub(super) fn count(stack: Stack<'_>, is_outside: bool, count_in_bins: impl FnOnce() -> u32) {
    let contexts: &Contexts = &CONTEXTS;
    // Taken before the bins are raised: see `wait_for_walks`.
    let buffer = Buffer::take(contexts);
    let ticks = count_in_bins();
    match buffer {
        _ if ticks == 0 => {}
        Some(buffer) => {
            Walking { contexts, buffer, stack, is_outside, ticks }.run();
        }
        None => {
            contexts.count_cut(CutReason::NO_BUFFER, ticks);
            contexts.count_outside(is_outside, ticks);
        }
    }
}

/// The node of the code that a signal interrupted, for samples of the reading of copied stacks that follows;
/// [`ROOT`] if there is none. Called in signal handlers.
#[inline(never)]
pub(crate) fn node_of(context: *const c_void) -> u32 {
    let contexts: &Contexts = &CONTEXTS;
    let walking =
        |buffer| Walking { contexts, buffer, stack: Stack::Interrupted(context), is_outside: false, ticks: 0 };
    if KEEPS_READERS && are_kept() { Buffer::take(contexts).map_or(ROOT, |buffer| walking(buffer).run()) } else { ROOT }
}

/// Counts ticks that came without a stack, outside of the bins or not.
pub(super) fn count_without_stack(is_outside: bool, ticks: u32) {
    if are_kept() && ticks > 0 {
        let contexts: &Contexts = &CONTEXTS;
        contexts.count_cut(CutReason::NO_STACK, ticks);
        contexts.count_outside(is_outside, ticks);
    }
}

/// Waits until no handler walks a stack, but not for long: see [`patience`]. Call this when ticks are not counted any
/// more: then every tick in the bins is in the tree too. The walk of this thread, which a fatal signal has interrupted
/// for good, is not waited for.
pub(crate) fn wait_for_walks() {
    if are_kept() {
        buffers::wait_for_walks(&CONTEXTS, thread_pointer(), patience());
    }
}

/// Waits until no other thread's handler walks a stack, and lets none begin as long as the result is kept: handlers
/// then count their ticks under [`CutReason::NO_BUFFER`]. `None` without stacks.
pub(crate) fn hold_walks() -> Option<NoWalks<'static>> {
    are_kept().then(|| buffers::hold(&CONTEXTS, thread_pointer(), patience()))
}

/// Waits a moment at each call, until the result is false: a handler has then not come to its end for a tenth of a
/// second. A debugger may have stopped its thread for good. The tick of such a walk has no stack in the file: see
/// [`freeze`].
pub(crate) fn patience() -> impl FnMut() -> bool {
    const TURNS: u32 = 1000;
    /// Milliseconds.
    const MOMENTS: u32 = 100;
    let mut looks = 0;
    move || {
        looks += 1;
        if looks < TURNS {
            spin_loop();
        } else {
            a_moment();
        }
        looks < TURNS + MOMENTS
    }
}

/// Keeps the ticks of this moment for the file that will be written, until [`thaw`]. Call this before the bins are
/// read: then the bins have all these ticks. Only the thread that may write the file may call this.
pub(crate) fn freeze() {
    if are_kept() {
        CONTEXTS.freeze();
    }
}

/// The number of the last node of the tree now.
pub(crate) fn last_node() -> u32 {
    CONTEXTS.tree.nodes.load(SeqCst)
}

/// Forgets the ticks that [`freeze`] kept.
pub(crate) fn thaw() {
    CONTEXTS.frozen.clear();
}

/// Passes every node of the tree up to the node `last` to `each`, parents before their children, with the ticks for the
/// file.
pub(crate) fn each_node(last: u32, each: impl FnMut(NodeRef)) {
    CONTEXTS.each_node(last, each);
}

/// Passes the ticks for the file of which no stack is known to `each`, by reason.
pub(crate) fn each_cut(each: impl FnMut(CutReason, u64)) {
    CONTEXTS.each_cut(each);
}

/// Whether there are ticks, in the tree or in the sums.
pub(crate) fn has_ticks() -> bool {
    let mut has_ticks = false;
    each_cut(|_, _| has_ticks = true);
    has_ticks || CONTEXTS.tree.has_nodes()
}

/// Passes each run-time address to `each`. An address may be in several nodes.
pub(crate) fn each_address(mut each: impl FnMut(usize)) {
    CONTEXTS.tree.each(|_, node| {
        if node.address != 0 && node.address & PLACE == 0 {
            each(node.address as usize);
        }
    });
}

/// Replaces run-time addresses by places: `place` returns the place of an address, with the number of the object in the
/// bits from [`OBJECT_SHIFT`](storage::OBJECT_SHIFT) on, or `None` to leave the address as it is. The second argument
/// says whether the samples with the address came while a thread was in `dlclose`, since the previous call; others are
/// from before. Handlers may add nodes at the same time. Unless `has_changed`, nothing is done if no sample came while
/// a thread was in `dlclose`.
pub(crate) fn settle(has_changed: bool, place: impl FnMut(usize, bool) -> Option<usize>) {
    CONTEXTS.settle(has_changed, place);
}

/// The address of a node.
pub(crate) fn address(number: u32) -> u64 {
    CONTEXTS.tree.node(number).map_or(0, |node| without_mark(node.address.load(Relaxed)))
}

/// A walk that is under way.
struct Walking<'a> {
    contexts: &'a Contexts,
    buffer: Buffer<'a>,
    stack: Stack<'a>,
    /// Whether the innermost frame is outside of the bins.
    is_outside: bool,
    /// The ticks. After the walk, the node of the stack, or [`ROOT`]: the handler has little room.
    ticks: u32,
}

impl Walking<'_> {
    /// Walks the stack and counts the ticks. The result is the node of the stack.
    fn run(mut self) -> u32 {
        unsafe extern "C" fn on_stack(walking: *mut c_void) {
            // SAFETY: the address of `self` below, to which there is no other reference during the call.
            unsafe { (*walking.cast::<Walking<'_>>()).walk() }
        }
        let walking = (&raw mut self).cast();
        let reader = if let Stack::Copied(copied) = self.stack { copied.reader } else { 0 };
        // SAFETY: the function takes the address of a `Walking`.
        unsafe { self.buffer.call(on_stack, walking, reader) };
        self.ticks
    }

    fn walk(&mut self) {
        let (buffer, trail) = self.buffer.split();
        let reach = self.contexts.reach(self.ticks);
        let nodes = self.contexts.tree.nodes.load(Relaxed);
        let mut is_innermost = true;
        let searches = Searches::new(reach.passed > 0);
        let walked = walk_stack(self.stack, reach, &searches, trail, |Frame { pc, is_exact }| {
            let is_interrupted_caller = is_exact && (!is_innermost || self.ticks == 0);
            let pc = if is_innermost { sampled(owner(pc, self.stack)) } else { thunks::owner_of_call(pc) };
            is_innermost = false;
            buffer.push(pc as u64 + u64::from(is_interrupted_caller))
        });
        let (contexts, ticks) = (self.contexts, self.ticks);
        // A walk of copied stacks runs on a stack of its own, behind which the copy has nothing of the program.
        let reader = match self.stack {
            Stack::Copied(copied) if KEEPS_READERS => {
                let last = contexts.tree.nodes.load(Relaxed);
                buffer.reader_at(copied.sp, |address| copied.read(address)).filter(|reader| *reader <= last)
            }
            _ => None,
        };
        let thread = (!contexts.threads.all().is_empty()).then(|| match self.stack {
            Stack::Interrupted(_) => threads::count(contexts, ticks),
            Stack::Copied(copied) => threads::count_of(contexts, copied.thread, ticks),
        });
        // An object that was loaded since the last look may have the addresses of an object that is gone, and the nodes
        // of both must differ: see `control::merge`.
        let is_closing = is_closing();
        if is_closing {
            let leaves = |pc: u64| !stays(pc as usize);
            buffer.mark(WHILE_CLOSING, leaves);
            trail.outer_mut().iter_mut().filter(|pc| leaves(**pc)).for_each(|pc| *pc |= WHILE_CLOSING);
        }
        if let Some(thread) = thread {
            contexts.put_thread(thread);
        }
        let (inner, outer) = (buffer.frames(), trail.outer());
        let thread = thread.map(|thread| thread as u32);
        let node = match reader {
            Some(reader) => contexts.count_below(reader, inner, ticks),
            None => contexts.count_chain(thread, inner, outer, walked.ending, ticks),
        };
        contexts.count_outside(self.is_outside && node.is_none(), ticks);
        self.ticks = node.unwrap_or(ROOT);
        let new_nodes = contexts.tree.nodes.load(Relaxed).saturating_sub(nodes);
        // Only the thread of the stack keeps the objects of the stack from being unloaded.
        let is_kept = matches!(self.stack, Stack::Interrupted(_));
        contexts.describe_frames(inner.iter().chain(outer).copied(), is_kept, new_nodes > 0);
        let frames = inner.len() + outer.len();
        contexts.use_frames(Used { frames, passed: walked.passed, words: searches.words(), new_nodes });
        if is_closing {
            // Not before: the next look must find the nodes. This thread is in their objects, which therefore stay
            // until then.
            contexts.has_closing.store(true, SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        buffers::wait_for_walks(&contexts, 0, || {
            looks += 1;
            taken.pop();
            true
        });
        assert_eq!(looks, 32);
        taken.extend(Buffer::take(&contexts));
        let held = buffers::hold(&contexts, 0, || {
            taken.clear();
            true
        });
        assert!(Buffer::take(&contexts).is_none());
        drop(held);
        // A walk that does not end keeps its buffer, and a thread does not wait for its own walk.
        taken.extend(Buffer::take(&contexts));
        drop(buffers::hold(&contexts, 0, || false));
        buffers::wait_for_walks(&contexts, thread_pointer(), || panic!("its own"));
        drop(buffers::hold(&contexts, thread_pointer(), || panic!("its own")));
        assert_eq!(contexts.walks.load(Relaxed), 1);
        taken.clear();
        assert!(Buffer::take(&contexts).is_some());
    }
}
