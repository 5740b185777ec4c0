//! Growing arrays of counts.

use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::state::Resettable;

/// A row of numbers: two words that are the key, and a count.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Row {
    pub(crate) second: usize,
    pub(crate) first: usize,
    pub(crate) count: u64,
}

/// A row of the calls of one thread.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ThreadRow {
    /// The index of the thread's entry.
    pub(crate) thread: usize,
    /// The called function is first, the caller second.
    pub(crate) calls: Row,
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
    pub(crate) const fn new() -> Rows<R> {
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

/// A child removes all rows and keeps the memory.
impl<R> Resettable for Rows<R> {
    const VALUE: Rows<R> = Rows::new();

    #[inline(always)]
    fn reset(&self) {
        self.clear();
        self.lost.store(0, Relaxed);
    }

    #[cfg(test)]
    fn change(&self) {
        let Rows { start: _, length, capacity, given: _, is_full, lost } = self;
        [length, capacity].iter().for_each(|value| value.store(9, Relaxed));
        is_full.store(true, Relaxed);
        lost.store(9, Relaxed);
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        // The memory stays for what is to come.
        let Rows { start: _, length, capacity: _, given: _, is_full, lost } = self;
        (length.load(Relaxed), is_full.load(Relaxed), lost.load(Relaxed)) == (0, false, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_keeps_the_memory_of_rows() {
        let rows = Rows::<Row>::new();
        rows.change();
        rows.reset();
        assert!(rows.is_first() && rows.capacity.load(Relaxed) == 9);
    }
}
