//! A growing array of entries.

use core::marker::PhantomData;
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::combine::{Entry, Summand, combine};
use crate::memory::Rows;
use crate::os::{map, unmap};
use crate::state::Resettable;

/// A growing array of entries in static memory, so that the entries exist when an object is closed and at the end of
/// the process. Only the thread that may write the file uses the array.
pub(super) struct Pile<E: Entry> {
    rows: Rows<E::Row>,
    entries: PhantomData<E>,
}

/// The initial capacity in rows.
const FIRST_CAPACITY: usize = 4096;

impl<E: Entry> Pile<E> {
    /// Starts with an empty pile in memory for `capacity` entries, and unmaps memory that the pile had mapped. Nobody
    /// may use the given memory, or the [`Pile::entries`] from before.
    pub(super) fn give(&self, start: *mut E, capacity: usize) {
        self.rows.give(start.cast(), capacity);
    }

    /// All entries. They are valid until the next call of another method.
    pub(super) fn entries(&self) -> &'static [E] {
        let (start, length) = (self.rows.start.load(Relaxed), self.rows.length.load(Relaxed));
        // SAFETY: this number of rows was written from entries, and only this thread changes them.
        if length == 0 { &[] } else { unsafe { slice::from_raw_parts(start.cast(), length) } }
    }

    pub(super) fn push(&self, entry: E) {
        self.rows.push(entry.row());
    }

    /// Sorts the entries and adds up entries with the same key.
    pub(super) fn combine(&self) {
        self.rows.combine();
    }

    pub(super) fn clear(&self) {
        self.rows.clear();
    }

    /// Allows a new request for memory after an earlier request failed.
    pub(super) fn try_again(&self) {
        self.rows.is_full.store(false, Relaxed);
    }

    /// The number of calls and ticks that were lost for lack of memory since the last call.
    pub(super) fn take_lost(&self) -> u64 {
        self.rows.lost.swap(0, Relaxed)
    }
}

/// A child removes all entries and keeps the memory.
impl<E: Entry> Resettable for Pile<E> {
    const VALUE: Pile<E> = Pile { rows: Rows::new(), entries: PhantomData };

    #[inline(always)]
    fn reset(&self) {
        self.rows.reset();
    }

    #[cfg(test)]
    fn change(&self) {
        self.rows.change();
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        self.rows.is_first()
    }
}

impl<R: Summand> Rows<R> {
    fn give(&self, start: *mut R, capacity: usize) {
        let (before, capacity_before) = (self.start.load(Relaxed), self.capacity.load(Relaxed));
        let was_given = before == self.given.load(Relaxed);
        self.clear();
        // The order of stores is as in `make_room`: start and capacity always describe mapped memory.
        self.capacity.store(0, SeqCst);
        self.start.store(start, SeqCst);
        self.given.store(start, SeqCst);
        self.capacity.store(capacity, SeqCst);
        if !was_given {
            // SAFETY: mapped by `make_room`; nobody has an address of that memory any more.
            unsafe { unmap(before.cast(), capacity_before * size_of::<R>()) };
        }
    }

    #[inline(never)]
    pub(super) fn push(&self, row: R) {
        if self.length.load(Relaxed) == self.capacity.load(Relaxed) && (self.is_full.load(Relaxed) || !self.make_room())
        {
            self.is_full.store(true, Relaxed);
            self.lost.fetch_add(row.count(), Relaxed);
            return;
        }
        let length = self.length.load(Relaxed);
        // SAFETY: there is room for more rows than that.
        unsafe { self.start.load(Relaxed).add(length).write(row) };
        self.length.store(length + 1, Relaxed);
    }

    /// Sorts the rows and adds up rows with the same key.
    #[inline(never)]
    pub(super) fn combine(&self) {
        let (start, length) = (self.start.load(Relaxed), self.length.load(Relaxed));
        if length > 0 {
            // SAFETY: this number of rows was written, and nobody else uses them.
            let kept = combine(unsafe { slice::from_raw_parts_mut(start, length) });
            self.length.store(kept, Relaxed);
            // SAFETY: as above. Zeros are an empty entry; the memory may be a part of the file.
            unsafe { ptr::write_bytes(start.add(kept), 0, length - kept) };
        }
    }

    /// Makes room for at least one more row; false if there is no memory.
    fn make_room(&self) -> bool {
        self.combine();
        // SAFETY: pointers to all types have the same size; `Rows` has pointers to rows of this size.
        let [start, given] = unsafe { [&self.start, &self.given].map(|place| &*ptr::from_ref(place).cast()) };
        enlarge(size_of::<R>(), start, given, &self.capacity, self.length.load(Relaxed))
    }
}

/// Maps more memory for rows of this size if more than half of the capacity is used; false if there is no room for
/// another row. This function exists once, whatever the rows are.
fn enlarge(
    size: usize,
    place: &AtomicPtr<u8>,
    given: &AtomicPtr<u8>,
    capacity_place: &AtomicUsize,
    length: usize,
) -> bool {
    let (start, capacity) = (place.load(Relaxed), capacity_place.load(Relaxed));
    if length < capacity / 2 {
        return true;
    }
    let larger = (capacity * 2).max(FIRST_CAPACITY);
    let memory: *mut u8 = map(larger * size).cast();
    if memory.is_null() {
        return length < capacity;
    }
    if capacity > 0 {
        // SAFETY: the new memory is larger and does not overlap.
        unsafe { ptr::copy_nonoverlapping(start, memory, length * size) };
    }
    // A thread may end the process at any moment and take over as the writer: start and capacity always describe
    // mapped memory.
    place.store(memory, SeqCst);
    capacity_place.store(larger, SeqCst);
    if start != given.load(Relaxed) {
        // SAFETY: mapped here before; nobody has an address of that memory any more.
        unsafe { unmap(start.cast(), capacity * size) };
    }
    true
}
