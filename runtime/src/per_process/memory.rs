//! Memory in which a process counts.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::os::{PAGE, clear, map};

/// Memory that begins as zeros and is never freed; there may be none.
pub(crate) struct Memory {
    start: AtomicPtr<c_void>,
    length: AtomicUsize,
}

impl Memory {
    pub(super) const fn none() -> Memory {
        Memory { start: AtomicPtr::new(ptr::null_mut()), length: AtomicUsize::new(0) }
    }

    /// Maps so many bytes; there are none where that fails.
    pub(crate) fn map(&self, length: usize) {
        self.length.store(length, SeqCst);
        self.start.store(map(length), SeqCst);
    }

    /// Where the memory is; null if there is none.
    #[inline]
    pub(crate) fn start<T>(&self) -> *mut T {
        self.start.load(Relaxed).cast()
    }

    /// Makes all of it zeros again. Nobody may use it meanwhile.
    pub(super) fn clear(&self) {
        let start = self.start.load(SeqCst);
        if !start.is_null() {
            // SAFETY: all of the memory that `map` got; in the child of a fork there is no other thread.
            unsafe { clear(start, self.length.load(SeqCst)) };
        }
    }
}

/// How many stretches of four bytes there are slots for; what is not touched costs no memory.
pub(crate) const SLOTS: usize = 1 << 16;
/// The slots of a page.
pub(crate) const STRETCH: usize = PAGE / size_of::<Slot>();

/// The ticks of four bytes of code. All zero, it is free; an address never moves and is never taken out.
pub(crate) struct Slot {
    pub(crate) pc: AtomicUsize,
    pub(crate) ticks: AtomicU64,
}

/// Ticks by address; no slots if they are not wanted or there was no memory for them.
pub(crate) struct TicksOutside {
    slots: Memory,
    /// For each stretch of them whether there are ticks: so that the end does not have to look at all.
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

    /// A slot, by its number; none where there is no memory.
    pub(crate) fn slot(&self, number: usize) -> Option<&Slot> {
        let slots = self.slots.start::<Slot>();
        // SAFETY: there are that many, zero or counted, and they are never freed.
        (!slots.is_null()).then(|| unsafe { &*slots.add(number % SLOTS) })
    }

    /// Forgets all ticks.
    pub(crate) fn clear(&self) {
        self.elsewhere.store(0, Relaxed);
        self.touched.iter().for_each(|touched| touched.store(false, Relaxed));
        self.slots.clear();
    }
}

/// What is sorted and added up: two words by which rows are compared, and a count.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Row {
    pub(crate) second: usize,
    pub(crate) first: usize,
    pub(crate) count: u64,
}

/// Rows in memory that grows.
pub(crate) struct Rows {
    pub(crate) start: AtomicPtr<Row>,
    pub(crate) length: AtomicUsize,
    pub(crate) capacity: AtomicUsize,
    /// The memory that was given to begin with, which is never given back.
    pub(crate) given: AtomicPtr<Row>,
    /// Whether there is no room left and there was no memory for more: each try would sort all rows.
    pub(crate) is_full: AtomicBool,
    /// Calls and ticks for which there was no memory.
    pub(crate) lost: AtomicU64,
}

impl Rows {
    pub(super) const fn new() -> Rows {
        Rows {
            start: AtomicPtr::new(ptr::null_mut()),
            length: AtomicUsize::new(0),
            capacity: AtomicUsize::new(0),
            given: AtomicPtr::new(ptr::null_mut()),
            is_full: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        }
    }

    /// Forgets the rows; there is room for as many.
    pub(crate) fn clear(&self) {
        self.is_full.store(false, Relaxed);
        self.length.store(0, Relaxed);
    }
}
