//! The memory in which a process counts.

use core::ffi::c_void;
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::os::{PAGE, clear, map};

/// Memory that is zero at first and never freed; the memory may be missing.
pub(crate) struct Memory {
    start: AtomicPtr<c_void>,
    length: AtomicUsize,
}

impl Memory {
    pub(super) const fn none() -> Memory {
        Memory { start: AtomicPtr::new(ptr::null_mut()), length: AtomicUsize::new(0) }
    }

    /// Maps `length` bytes. If mapping fails, the memory is missing.
    pub(crate) fn map(&self, length: usize) {
        self.length.store(length, SeqCst);
        self.start.store(map(length), SeqCst);
    }

    /// The address of the memory; null if it is missing.
    #[inline]
    pub(crate) fn start<T>(&self) -> *mut T {
        self.start.load(Relaxed).cast()
    }

    /// Clears the memory. Nobody may use the memory at the same time.
    pub(super) fn clear(&self) {
        let start = self.start.load(SeqCst);
        if !start.is_null() {
            // SAFETY: all of the memory that `map` got; the child of a fork has no other thread.
            unsafe { clear(start, self.length.load(SeqCst)) };
        }
    }
}

/// The number of slots, each for four bytes of code. Untouched slots take no memory.
pub(crate) const SLOTS: usize = 1 << 16;
/// The number of slots in a page.
pub(crate) const STRETCH: usize = PAGE / size_of::<Slot>();

/// The ticks of four bytes of code. A slot of zeros is free. An address never moves and is never removed.
pub(crate) struct Slot {
    pub(crate) pc: AtomicUsize,
    pub(crate) ticks: AtomicU64,
}

/// Ticks by address. There are no slots if the ticks are not wanted or there was no memory.
pub(crate) struct TicksOutside {
    slots: Memory,
    /// Whether each stretch of slots has ticks, so that the end of the process need not look at all slots.
    pub(crate) touched: [AtomicBool; SLOTS / STRETCH],
    /// The ticks for which there was no slot.
    pub(crate) elsewhere: AtomicU64,
}

impl TicksOutside {
    pub(crate) const fn new() -> TicksOutside {
        TicksOutside {
            slots: Memory::none(),
            touched: [const { AtomicBool::new(false) }; SLOTS / STRETCH],
            elsewhere: AtomicU64::new(0),
        }
    }

    pub(crate) fn prepare(&self) {
        self.slots.map(SLOTS * size_of::<Slot>());
    }

    /// The slot with this number; `None` if there is no memory.
    pub(crate) fn slot(&self, number: usize) -> Option<&Slot> {
        let slots = self.slots.start::<Slot>();
        // SAFETY: there are [`SLOTS`] slots, which are never freed.
        (!slots.is_null()).then(|| unsafe { &*slots.add(number % SLOTS) })
    }

    /// Clears all ticks.
    pub(crate) fn clear(&self) {
        self.elsewhere.store(0, Relaxed);
        self.touched.iter().for_each(|touched| touched.store(false, Relaxed));
        self.slots.clear();
    }
}

/// A row of numbers: two words that are the key, and a count.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Row {
    pub(crate) second: usize,
    pub(crate) first: usize,
    pub(crate) count: u64,
}

/// A growing array of rows.
pub(crate) struct Rows<R = Row> {
    pub(crate) start: AtomicPtr<R>,
    pub(crate) length: AtomicUsize,
    pub(crate) capacity: AtomicUsize,
    /// The memory that was given at first, which is never unmapped.
    pub(crate) given: AtomicPtr<R>,
    /// Whether the array is full and there was no memory for more rows. Each new attempt would sort all rows.
    pub(crate) is_full: AtomicBool,
    /// The calls and ticks that were lost for lack of memory.
    pub(crate) lost: AtomicU64,
}

impl<R> Rows<R> {
    pub(super) const fn new() -> Rows<R> {
        Rows {
            start: AtomicPtr::new(ptr::null_mut()),
            length: AtomicUsize::new(0),
            capacity: AtomicUsize::new(0),
            given: AtomicPtr::new(ptr::null_mut()),
            is_full: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        }
    }

    /// All rows.
    ///
    /// # Safety
    ///
    /// Nobody may add or remove rows as long as the result is used.
    pub(crate) unsafe fn written(&self) -> &[R] {
        let (start, length) = (self.start.load(Relaxed), self.length.load(Relaxed));
        // SAFETY: this number of rows was written; the caller's promise.
        if length == 0 { &[] } else { unsafe { slice::from_raw_parts(start, length) } }
    }

    /// Removes all rows and keeps the memory.
    pub(crate) fn clear(&self) {
        self.is_full.store(false, Relaxed);
        self.length.store(0, Relaxed);
    }
}
