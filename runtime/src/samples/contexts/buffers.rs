//! The memory for walks: the frames of one walk, and a stack on which the walk runs.
//!
//! A signal handler may run on an alternate stack of 2 KB or on the last page of a thread's stack, where a walk has no
//! room. So each buffer has a stack of its own. There are fewer buffers than threads: a walk takes a microsecond or
//! two.

use core::ffi::c_void;
use core::hint::spin_loop;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::storage::Contexts;
use crate::arch;
use crate::unwind::{MOST_FRAMES, Trail};

/// The number of buffers: as many as fit into one huge page, with which no kernel then backs them.
const BUFFERS: u32 = 32;
/// How often a walk looks for a free buffer. On machines with many processors, the timers of many threads expire at the
/// same tick of the kernel.
const TURNS: u32 = 1000;
/// The bytes of a walk's stack, several times the use that the test `objects` measures.
const STACK: usize = 8 << 10;

/// The bytes at the end of a walk's stack. They hold the number of the node below which samples of the walk itself
/// hang.
const READER: usize = 16;

/// A buffer for one walk. The frames follow the end of the stack, so a short walk touches two pages.
#[repr(C, align(64))]
struct WalkMemory {
    stack: [u8; STACK],
    frames: [u64; MOST_FRAMES as usize],
    trail: Trail,
}

/// A buffer that this thread has taken, and returns when the value is dropped.
pub(super) struct Buffer<'a> {
    contexts: &'a Contexts,
    number: u32,
    used: usize,
}

/// Maps the buffers. Only touched pages take memory.
pub(super) fn map(contexts: &Contexts) {
    contexts.buffers.map(size_of::<WalkMemory>() * BUFFERS as usize);
}

/// Waits until no walk of another thread is under way, so that every tick in the bins has its stack. `thread` is this
/// thread's thread pointer. `wait` is called between two looks, until it returns false.
pub(super) fn wait_for_walks(contexts: &Contexts, thread: usize, mut wait: impl FnMut() -> bool) {
    while contexts.walks.load(SeqCst) & !walks_of(contexts, thread) != 0 && wait() {}
}

/// The buffers of walks of a thread, as a bit set.
fn walks_of(contexts: &Contexts, thread: usize) -> u32 {
    let walkers = contexts.walkers.iter().enumerate();
    let own = walkers.filter(|(_, walker)| thread != 0 && walker.load(SeqCst) == thread);
    own.fold(0, |set, (number, _)| set | 1 << number)
}

/// All buffers, so that no walk begins. They are returned when the value is dropped.
pub(crate) struct NoWalks<'a> {
    contexts: &'a Contexts,
    held: u32,
}

/// Takes all buffers except those of this thread: see [`wait_for_walks`].
pub(super) fn hold(contexts: &Contexts, thread: usize, mut wait: impl FnMut() -> bool) -> NoWalks<'_> {
    let mut held = 0;
    loop {
        held |= !contexts.walks.fetch_or(u32::MAX, SeqCst);
        if held | walks_of(contexts, thread) == u32::MAX || !wait() {
            return NoWalks { contexts, held };
        }
    }
}

impl Drop for NoWalks<'_> {
    fn drop(&mut self) {
        self.contexts.walks.fetch_and(!self.held, SeqCst);
    }
}

impl<'a> Buffer<'a> {
    /// Takes a free buffer; `None` if there is none.
    pub(super) fn take(contexts: &'a Contexts) -> Option<Buffer<'a>> {
        if contexts.buffers.start::<WalkMemory>().is_null() {
            return None;
        }
        for _ in 0..TURNS {
            let taken = contexts.walks.load(Relaxed);
            let number = taken.trailing_ones();
            if number < BUFFERS {
                // The order with the look at whether ticks are counted: see `wait_for_walks`.
                if contexts.walks.compare_exchange_weak(taken, taken | 1 << number, SeqCst, Relaxed).is_ok() {
                    let buffer = Buffer { contexts, number, used: 0 };
                    buffer.set_walker(arch::thread_pointer());
                    return Some(buffer);
                }
            } else {
                spin_loop();
            }
        }
        None
    }

    fn set_walker(&self, thread: usize) {
        if let Some(walker) = self.contexts.walkers.get(self.number as usize) {
            walker.store(thread, SeqCst);
        }
    }

    fn memory(&self) -> *mut WalkMemory {
        // SAFETY: there are that many buffers, which stay mapped.
        unsafe { self.contexts.buffers.start::<WalkMemory>().add(self.number as usize) }
    }

    /// The buffer for the inner frames of a walk, and the memory for the outer ones.
    pub(super) fn split(&mut self) -> (&mut Buffer<'a>, &mut Trail) {
        // SAFETY: inside the buffer, which only this thread uses, and no other function uses this part. Each value of
        // its numbers is valid.
        let trail = unsafe { &mut (*self.memory()).trail };
        (self, trail)
    }

    /// Adds a frame; false if there is no room.
    pub(super) fn push(&mut self, address: u64) -> bool {
        if self.used >= MOST_FRAMES as usize {
            return false;
        }
        // SAFETY: inside the buffer, which only this thread uses.
        unsafe { (&raw mut (*self.memory()).frames).cast::<u64>().add(self.used).write(address) };
        self.used += 1;
        true
    }

    /// Sets a bit in the frames that `is_marked` wants.
    pub(super) fn mark(&mut self, bit: u64, is_marked: impl Fn(u64) -> bool) {
        for index in 0..self.used {
            // SAFETY: a frame that was written, inside the buffer, which only this thread uses.
            let frame = unsafe { &mut *(&raw mut (*self.memory()).frames).cast::<u64>().add(index) };
            if is_marked(*frame) {
                *frame |= bit;
            }
        }
    }

    /// The frames, in the order in which they were added.
    pub(super) fn frames(&self) -> &[u64] {
        // SAFETY: these frames were written, and only this thread uses the buffer.
        unsafe { core::slice::from_raw_parts((&raw const (*self.memory()).frames).cast(), self.used) }
    }

    /// The node above the walk that a stack pointer belongs to, as `read` reads the stack of this walk; `None` if the
    /// stack pointer is on no stack of a buffer.
    pub(super) fn reader_at(&self, sp: usize, read: impl FnOnce(usize) -> Option<usize>) -> Option<u32> {
        let start = self.contexts.buffers.start::<WalkMemory>().addr();
        let offset = sp.checked_sub(start).filter(|offset| *offset < size_of::<WalkMemory>() * BUFFERS as usize)?;
        let top = sp - offset % size_of::<WalkMemory>() + STACK;
        u32::try_from(read(top - READER)?).ok().filter(|reader| sp <= top - READER && *reader != 0)
    }

    /// Calls `function` with `data` on the stack of the buffer. The stack keeps `reader` for samples of this call: see
    /// [`Buffer::reader_at`].
    ///
    /// # Safety
    ///
    /// `data` must be what `function` expects.
    pub(super) unsafe fn call(&self, function: unsafe extern "C" fn(*mut c_void), data: *mut c_void, reader: u32) {
        // SAFETY: the end of a stack that only this thread uses; the caller's promise.
        unsafe {
            let top = self.memory().byte_add(STACK - READER);
            top.cast::<u64>().write(reader.into());
            arch::call_on_stack(top.cast(), function, data);
        }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        self.set_walker(0);
        self.contexts.walks.fetch_and(!(1 << self.number), SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;

    #[test]
    fn a_buffer_has_the_frames_of_its_walk() {
        let contexts = Contexts::new();
        assert!(Buffer::take(&contexts).is_none(), "there is no memory");
        map(&contexts);
        let mut all: Vec<_> = (0..BUFFERS).map(|_| Buffer::take(&contexts).unwrap()).collect();
        assert!(Buffer::take(&contexts).is_none());
        for (number, buffer) in (1..).zip(&mut all) {
            assert!(buffer.frames().is_empty());
            assert!((0..u64::from(MOST_FRAMES)).all(|frame| buffer.push(frame << 8 | number)) && !buffer.push(0));
            buffer.mark(1 << 62, |frame| frame >> 8 == 4095);
        }
        for (number, buffer) in (1..).zip(&all) {
            let expected = (0..4096).map(|frame| frame << 8 | number | u64::from(frame == 4095) << 62);
            assert!(buffer.frames().iter().copied().eq(expected), "{number}");
        }
        all.remove(7);
        assert_eq!(Buffer::take(&contexts).unwrap().number, 7);
    }

    #[test]
    fn the_stack_of_a_walk_tells_the_node_above() {
        unsafe extern "C" fn nothing(_: *mut c_void) {}
        let contexts = Contexts::new();
        map(&contexts);
        let buffers: Vec<_> = (0..3).map(|_| Buffer::take(&contexts).unwrap()).collect();
        let start = contexts.buffers.start::<WalkMemory>().addr();
        for (buffer, reader) in buffers.iter().zip([7, 0, 9]) {
            // SAFETY: the function takes anything.
            unsafe { buffer.call(nothing, ptr::null_mut(), reader) };
        }
        // SAFETY: only addresses in the buffers are read.
        let read = |address: usize| Some(unsafe { *ptr::with_exposed_provenance::<usize>(address) });
        contexts.buffers.start::<WalkMemory>().expose_provenance();
        let at = |number: usize, offset| buffers[1].reader_at(start + number * size_of::<WalkMemory>() + offset, read);
        let top = STACK - READER;
        assert_eq!([at(0, 0), at(0, top - 8), at(0, top), at(0, top + 8)], [Some(7), Some(7), Some(7), None]);
        assert_eq!([at(1, top), at(2, top), at(2, STACK + 8)], [None, Some(9), None]);
        let outside = [start - 8, start + size_of::<WalkMemory>() * BUFFERS as usize];
        assert_eq!(outside.map(|sp| buffers[0].reader_at(sp, |_| panic!("not a walk's stack"))), [None; 2]);
        assert_eq!(buffers[0].reader_at(start, |_| None), None, "not in the copy");
    }

    #[test]
    fn walks_of_this_thread_are_not_waited_for() {
        let contexts = Contexts::new();
        map(&contexts);
        let own = arch::thread_pointer();
        let mut buffers: Vec<_> = (0..3).map(|_| Buffer::take(&contexts).unwrap()).collect();
        let waits = |thread| {
            let mut waits = 0;
            wait_for_walks(&contexts, thread, || {
                waits += 1;
                waits < 5
            });
            waits
        };
        assert_eq!([own, own + 8, 0].map(waits), [0, 5, 5]);
        buffers.clear();
        assert_eq!([own + 8, 0].map(waits), [0, 0]);
        let held = hold(&contexts, 0, || panic!("no walk"));
        assert!(Buffer::take(&contexts).is_none());
        drop(held);
        assert!(Buffer::take(&contexts).is_some());
    }
}
