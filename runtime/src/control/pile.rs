//! Entries in memory that grows.

use core::marker::PhantomData;
use core::ptr;
use core::slice;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::combine::{Entry, combine};
use crate::os::{map, unmap};
use crate::per_process::{Row, Rows};

/// Entries in memory that grows; a static one, so that they are there when an object is closed and at the end. Only for the one
/// thread that may write the file.
pub(super) struct Pile<E: 'static> {
    rows: &'static Rows,
    entries: PhantomData<E>,
}

/// How many rows there is room for at first.
const FIRST_CAPACITY: usize = 4096;

impl<E: Entry> Pile<E> {
    /// A pile of entries that are kept as these rows, and no other pile's.
    pub(super) const fn of(rows: &'static Rows) -> Pile<E> {
        Pile { rows, entries: PhantomData }
    }

    /// Begins anew in memory for `capacity` entries, and gives other memory back. Nobody may use that or that of the
    /// [`Pile::entries`] so far.
    pub(super) fn give(&self, start: *mut E, capacity: usize) {
        self.rows.give(start.cast(), capacity);
    }

    /// All entries. They stay as they are until the next call of another function.
    pub(super) fn entries(&self) -> &'static [E] {
        let (start, length) = (self.rows.start.load(Relaxed), self.rows.length.load(Relaxed));
        // SAFETY: so many rows were written that were made of entries, and only this thread changes that.
        if length == 0 { &[] } else { unsafe { slice::from_raw_parts(start.cast(), length) } }
    }

    pub(super) fn push(&self, entry: E) {
        self.rows.push(entry.row());
    }

    /// Makes one entry of those that tell of the same, and sorts them.
    pub(super) fn combine(&self) {
        self.rows.combine();
    }

    pub(super) fn clear(&self) {
        self.rows.clear();
    }

    /// Asks for memory again if there was none.
    pub(super) fn try_again(&self) {
        self.rows.is_full.store(false, Relaxed);
    }

    /// How many calls and ticks there was no memory for since the last time.
    pub(super) fn take_lost(&self) -> u64 {
        self.rows.lost.swap(0, Relaxed)
    }
}

impl Rows {
    fn give(&self, start: *mut Row, capacity: usize) {
        let (before, capacity_before) = (self.start.load(Relaxed), self.capacity.load(Relaxed));
        let was_given = before == self.given.load(Relaxed);
        self.clear();
        // As in `make_room`: what is said is always there.
        self.capacity.store(0, SeqCst);
        self.start.store(start, SeqCst);
        self.given.store(start, SeqCst);
        self.capacity.store(capacity, SeqCst);
        if !was_given {
            // SAFETY: mapped by `make_room`; nobody has an address of that memory any more.
            unsafe { unmap(before.cast(), capacity_before * size_of::<Row>()) };
        }
    }

    #[inline(never)]
    fn push(&self, row: Row) {
        if self.length.load(Relaxed) == self.capacity.load(Relaxed) && (self.is_full.load(Relaxed) || !self.make_room())
        {
            self.is_full.store(true, Relaxed);
            self.lost.fetch_add(row.count, Relaxed);
            return;
        }
        let length = self.length.load(Relaxed);
        // SAFETY: there is room for more than that.
        unsafe { self.start.load(Relaxed).add(length).write(row) };
        self.length.store(length + 1, Relaxed);
    }

    #[inline(never)]
    fn combine(&self) {
        let (start, length) = (self.start.load(Relaxed), self.length.load(Relaxed));
        if length > 0 {
            // SAFETY: so many were written, and nobody else looks at them.
            let kept = combine(unsafe { slice::from_raw_parts_mut(start, length) });
            self.length.store(kept, Relaxed);
            // SAFETY: as above. Zeros are no entry, and the memory may be the file.
            unsafe { ptr::write_bytes(start.add(kept), 0, length - kept) };
        }
    }

    /// Makes room for one more row at least; false if there is no memory.
    fn make_room(&self) -> bool {
        self.combine();
        let (start, length, capacity) =
            (self.start.load(Relaxed), self.length.load(Relaxed), self.capacity.load(Relaxed));
        if length < capacity / 2 {
            return true;
        }
        let larger = (capacity * 2).max(FIRST_CAPACITY);
        let memory: *mut Row = map(larger * size_of::<Row>()).cast();
        if memory.is_null() {
            return length < capacity;
        }
        if capacity > 0 {
            // SAFETY: the new memory has room for more than that and is another.
            unsafe { ptr::copy_nonoverlapping(start, memory, length) };
        }
        // A thread may end the process at any moment and be taken for the writer's: what is said is always there.
        self.start.store(memory, SeqCst);
        self.capacity.store(larger, SeqCst);
        self.unmap(start, capacity);
        true
    }

    /// Gives memory back that was not given.
    fn unmap(&self, start: *mut Row, capacity: usize) {
        if start != self.given.load(Relaxed) {
            // SAFETY: mapped by `make_room`; nobody has an address of that memory any more.
            unsafe { unmap(start.cast(), capacity * size_of::<Row>()) };
        }
    }
}
