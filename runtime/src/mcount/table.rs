//! A table of arcs: open addressing with exact (frompc, selfpc) keys and 64-bit counts.
//!
//! One thread writes a table, by mcount's assembly and by [`Table::count`], and that thread's signal handlers may do
//! so at any moment in between. A key never moves and is never overwritten, so a handler cannot take a slot away from
//! the code that it interrupts. A table that has become too small keeps its counts, and the next, larger table takes
//! over. The count of an arc is the sum over all tables.
//!
//! mcount knows the layout of the entries, which is the layout of arcs in the file: (frompc, selfpc, count). The home
//! of an arc is its hash masked, times three, in bytes. The search goes upwards, never around, to the first empty
//! entry; there is always an empty entry.

use core::ffi::c_void;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::arch;
use crate::os;
use crate::samples::bins;

/// The selfpc of an entry that is being filled: no address, yet not empty.
const CLAIMED: usize = 1;

/// The minimum number of entries behind the last home slot. The very last entry is never filled.
const TAIL: usize = 38;

/// The home slots of a first table; with the tail they fill a page.
const FIRST_SLOTS: usize = 128;

/// Tables with more slots than this count as large.
const SMALL: usize = 1 << 17;

/// How far from its home an arc may be in a small table, and in a large table. Chance does not cause such a distance:
/// the arcs then differ only in bits that the hash of such a table ignores.
const FAR: usize = 16;
const FAR_IN_LARGE: usize = 256;

/// Tables with this many slots (400 MB) do not grow because of distance.
const LARGEST_LEFT: usize = 1 << 24;

/// The maximum number of tables of a thread: the last would have 2^27 slots, as many as mcount can address with 32
/// bits.
pub(crate) const GENERATIONS: usize = 16;

/// An arc, as in the file. An entry of zeros is empty.
#[repr(C)]
struct Entry {
    frompc: AtomicUsize,
    selfpc: AtomicUsize,
    count: AtomicU64,
}

/// A table. A table of zeros has no entries and no room for any.
pub(crate) struct Table {
    /// Null before [`Table::set_memory`].
    entries: AtomicPtr<Entry>,
    /// Home slots, a power of two.
    slots: AtomicUsize,
    /// The number of entries, the tail included.
    length: AtomicUsize,
    /// The number of entries that are filled or being filled.
    used: AtomicUsize,
    /// For each entry the part of its count that was taken: see [`Table::take`]. Null before the first call.
    taken: AtomicPtr<AtomicU64>,
    /// Whether the table has had an arc that begins or ends outside the program's own code.
    leads_outside: AtomicBool,
}

/// The result of counting a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Yes,
    /// The arc is not in the table, and there is no room for the arc, or no room near its home.
    Full,
}

/// The size in bytes of a table of this generation, a multiple of `grain`.
///
/// Each small table is four times as large as the one before, so that there are few tables; each large table is twice
/// as large, so that tables do not take much more memory than they need.
pub(crate) fn size(generation: usize, grain: usize) -> usize {
    let fast = generation.min((SMALL / FIRST_SLOTS).ilog2() as usize / 2);
    let slots = FIRST_SLOTS << (generation + fast);
    ((slots + TAIL) * size_of::<Entry>()).next_multiple_of(grain)
}

impl Table {
    /// Makes a table without entries.
    #[cfg(test)]
    pub(crate) const fn new() -> Table {
        Table {
            entries: AtomicPtr::new(core::ptr::null_mut()),
            slots: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            taken: AtomicPtr::new(core::ptr::null_mut()),
            leads_outside: AtomicBool::new(false),
        }
    }

    /// Gives the table `memory` for its entries. Signals must be blocked.
    ///
    /// # Safety
    ///
    /// `memory` must be aligned to a word, have `size` bytes, at least the size of the smallest table, be all zero,
    /// belong to nobody else, and stay mapped.
    pub(crate) unsafe fn set_memory(&self, memory: *mut c_void, size: usize) {
        let length = size / size_of::<Entry>();
        let slots = 1 << length.saturating_sub(TAIL).checked_ilog2().unwrap_or(0);
        self.slots.store(slots, SeqCst);
        self.length.store(length, SeqCst);
        self.entries.store(memory.cast(), SeqCst);
    }

    /// Marks all entries as unused after their memory was cleared.
    pub(crate) fn mark_empty(&self) {
        self.used.store(0, SeqCst);
        self.leads_outside.store(false, SeqCst);
        let taken = self.taken.load(SeqCst);
        if !taken.is_null() {
            // SAFETY: all of the memory that `taken` mapped; there is no other thread.
            unsafe { os::clear(taken.cast(), self.length.load(SeqCst) * size_of::<AtomicU64>()) };
        }
    }

    /// The memory of the entries and its size; null if there are none.
    pub(crate) fn memory(&self) -> (*mut c_void, usize) {
        (self.entries.load(SeqCst).cast(), self.length.load(SeqCst) * size_of::<Entry>())
    }

    /// The mask, which leaves eight times the number of the home slot of a hash.
    pub(crate) fn mask(&self) -> usize {
        self.slots.load(Relaxed).wrapping_sub(1).wrapping_mul(8)
    }

    /// The maximum number of used entries: an eighth of the home slots of a small table, where the processor
    /// mispredicts the branch of a search that goes past the home; half of the home slots of a large table, which
    /// does not fit the caches anyway.
    fn most_used(&self) -> usize {
        let slots = self.slots.load(Relaxed);
        if slots <= SMALL { slots / 8 } else { slots / 2 }
    }

    /// Whether a larger table is better than an arc at this distance from its home.
    fn is_far(&self, distance: usize) -> bool {
        let slots = self.slots.load(Relaxed);
        distance > (if slots <= SMALL { FAR } else { FAR_IN_LARGE }) && slots < LARGEST_LEFT
    }

    fn entry(&self, index: usize) -> Option<&Entry> {
        let entries = self.entries.load(SeqCst);
        if entries.is_null() || index >= self.length.load(Relaxed) {
            return None;
        }
        // SAFETY: the table has `length` entries.
        Some(unsafe { &*entries.add(index) })
    }

    /// Counts one call, as mcount does, and makes an entry for a new arc if there is room near its home.
    pub(crate) fn count(&self, frompc: usize, selfpc: usize) -> Counted {
        self.count_if(frompc, selfpc, |distance| self.used.load(Relaxed) < self.most_used() && !self.is_far(distance))
    }

    /// As [`Table::count`], but makes an entry wherever there is room, up to half of the slots, because there is no
    /// larger table.
    pub(crate) fn count_anywhere(&self, frompc: usize, selfpc: usize) -> Counted {
        self.count_if(frompc, selfpc, |_| self.used.load(Relaxed) < self.slots.load(Relaxed) / 2)
    }

    fn count_if(&self, frompc: usize, selfpc: usize, may_be_new: impl Fn(usize) -> bool) -> Counted {
        let home = (arch::hash(frompc, selfpc) & self.mask()) / 8;
        let mut index = home;
        // The last entry stays empty; otherwise mcount's search would not end.
        while let Some(entry) = self.entry(index)
            && self.entry(index.wrapping_add(1)).is_some()
        {
            let found = entry.selfpc.load(Relaxed);
            if found == selfpc && entry.frompc.load(Relaxed) == frompc {
                entry.count.fetch_add(1, Relaxed);
                return Counted::Yes;
            }
            if found == 0 {
                if !may_be_new(index.wrapping_sub(home)) {
                    return Counted::Full;
                }
                if entry.selfpc.compare_exchange(0, CLAIMED, SeqCst, Relaxed).is_err() {
                    continue; // a signal handler was here: look again at its entry
                }
                self.used.fetch_add(1, Relaxed);
                if !bins::covers(frompc) || !bins::covers(selfpc) {
                    self.leads_outside.store(true, Relaxed);
                }
                // The count may have a call that was being counted when a signal handler forked.
                entry.count.store(0, SeqCst);
                entry.frompc.store(frompc, SeqCst);
                entry.selfpc.store(selfpc, SeqCst);
                entry.count.fetch_add(1, Relaxed);
                return Counted::Yes;
            }
            index = index.wrapping_add(1);
        }
        Counted::Full
    }

    /// Passes every arc with a nonzero count to `each`, as (frompc, selfpc, count), without the counts that were
    /// taken.
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize, usize, u64)) {
        self.for_each_called(|index, frompc, selfpc, entry| {
            let before = self.taken(index).map_or(0, |taken| taken.load(Relaxed));
            let count = entry.count.load(Relaxed).wrapping_sub(before);
            if count > 0 {
                each(frompc, selfpc, count);
            }
        });
    }

    /// Whether arcs may lead to or from code outside the program.
    pub(crate) fn leads_outside(&self) -> bool {
        self.leads_outside.load(Relaxed)
    }

    /// Takes the counts of the arcs that `is_wanted` out of the table, and passes them to `each`. Threads that count
    /// at the same time lose nothing: the count stays, and the part that was taken is stored beside it. If there is
    /// no memory for these parts, nothing is taken.
    pub(crate) fn take(
        &self,
        mut is_wanted: impl FnMut(usize, usize) -> bool,
        mut each: impl FnMut(usize, usize, u64),
    ) {
        if self.used.load(Relaxed) == 0 || !self.note_what_is_taken() {
            return;
        }
        self.for_each_called(|index, frompc, selfpc, entry| {
            let (Some(taken), count) = (self.taken(index), entry.count.load(Relaxed)) else { return };
            if taken.load(Relaxed) != count && is_wanted(frompc, selfpc) {
                let before = taken.swap(count, Relaxed);
                each(frompc, selfpc, count.wrapping_sub(before));
            }
        });
    }

    /// As [`Table::take`], but sets the counts to zero, for a table that is a part of the file. Nobody may call along
    /// these arcs at the same time, because mcount's increment is not atomic.
    pub(crate) fn empty(
        &self,
        mut is_wanted: impl FnMut(usize, usize) -> bool,
        mut each: impl FnMut(usize, usize, u64),
    ) {
        self.for_each_called(|index, frompc, selfpc, entry| {
            if is_wanted(frompc, selfpc) {
                let before = self.taken(index).map_or(0, |taken| taken.swap(0, Relaxed));
                let count = entry.count.swap(0, SeqCst).wrapping_sub(before);
                if count > 0 {
                    each(frompc, selfpc, count);
                }
            }
        });
    }

    /// Takes the counts of all arcs out of the table, and passes them to `each`; false if there is no memory for the
    /// parts that were taken.
    pub(crate) fn take_all(&self, mut each: impl FnMut(usize, usize, u64)) -> bool {
        if self.used.load(Relaxed) == 0 {
            return true;
        }
        let has_noted = self.note_what_is_taken();
        if has_noted {
            self.for_each_called(|index, frompc, selfpc, entry| {
                let (Some(taken), count) = (self.taken(index), entry.count.load(Relaxed)) else { return };
                let before = taken.swap(count, Relaxed);
                if before != count {
                    each(frompc, selfpc, count.wrapping_sub(before));
                }
            });
        }
        has_noted
    }

    /// Passes all counts to `each`, and removes all entries. Nobody may use the table at the same time.
    pub(crate) fn drain(&self, mut each: impl FnMut(usize, usize, u64)) {
        if self.used.load(Relaxed) == 0 {
            return;
        }
        self.for_each(&mut each);
        let mut index = 0;
        while let Some(entry) = self.entry(index) {
            if entry.selfpc.load(Relaxed) != 0 {
                [&entry.frompc, &entry.selfpc].iter().for_each(|word| word.store(0, Relaxed));
                entry.count.store(0, Relaxed);
                if let Some(taken) = self.taken(index) {
                    taken.store(0, Relaxed);
                }
            }
            index = index.wrapping_add(1);
        }
        self.used.store(0, SeqCst);
        self.leads_outside.store(false, SeqCst);
    }

    /// The number of entries that are in use.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Allocates the array `taken`; false if there is no memory.
    fn note_what_is_taken(&self) -> bool {
        if self.taken.load(Relaxed).is_null() {
            self.taken.store(os::map(self.length.load(Relaxed) * size_of::<AtomicU64>()).cast(), SeqCst);
        }
        !self.taken.load(Relaxed).is_null()
    }

    /// The part of an entry's count that was taken; `None` before anything was taken.
    fn taken(&self, index: usize) -> Option<&AtomicU64> {
        let taken = self.taken.load(Relaxed);
        // SAFETY: the array has an element for each entry, and is never freed.
        (!taken.is_null() && index < self.length.load(Relaxed)).then(|| unsafe { &*taken.add(index) })
    }

    fn for_each_called(&self, mut each: impl FnMut(usize, usize, usize, &Entry)) {
        let mut index = 0;
        while let Some(entry) = self.entry(index) {
            let selfpc = entry.selfpc.load(SeqCst);
            if selfpc != CLAIMED && selfpc != 0 && entry.count.load(Relaxed) != 0 {
                each(index, entry.frompc.load(Relaxed), selfpc, entry);
            }
            index = index.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests;
