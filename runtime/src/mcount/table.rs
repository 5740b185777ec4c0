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

    /// Takes the counts of the arcs that `is_wanted` out of the table, and passes them to `each`. Threads that count
    /// at the same time lose nothing: the count stays, and the part that was taken is stored beside it. If there is
    /// no memory for these parts, nothing is taken. Tables with only the program's own arcs are skipped.
    pub(crate) fn take(&self, is_wanted: impl Fn(usize, usize) -> bool, mut each: impl FnMut(usize, usize, u64)) {
        if !self.leads_outside.load(Relaxed) || !self.note_what_is_taken() {
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
    pub(crate) fn empty(&self, is_wanted: impl Fn(usize, usize) -> bool, mut each: impl FnMut(usize, usize, u64)) {
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

    /// Takes the counts of all arcs out of the table, and passes them to `each`; false if there is no memory for the parts that were
    /// taken.
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
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::os::map;

    fn table(generation: usize) -> Table {
        let size = size(generation, 4096);
        let memory = map(size);
        assert!(!memory.is_null());
        let table = Table::new();
        assert_eq!(table.count(1, 2), Counted::Full, "there is no room yet");
        // SAFETY: fresh memory that is never freed.
        unsafe { table.set_memory(memory, size) };
        table
    }

    fn arcs(table: &Table) -> HashMap<(usize, usize), u64> {
        let mut all = HashMap::new();
        table.for_each(|frompc, selfpc, count| *all.entry((frompc, selfpc)).or_default() += count);
        all
    }

    #[test]
    fn counts_are_those_of_a_map() {
        let table = table(3);
        let mut expected = HashMap::new();
        let mut seed = 1_usize;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (frompc, selfpc) = (0x40_0000 + (seed >> 40) % 20 * 4, 0x40_1000 + (seed >> 50) % 20 * 16);
            assert_eq!(table.count(frompc, selfpc), Counted::Yes);
            *expected.entry((frompc, selfpc)).or_default() += 1;
        }
        assert_eq!(arcs(&table), expected);
    }

    #[test]
    fn sizes_grow_to_more_than_any_program_has() {
        let slots: Vec<_> = (0..GENERATIONS).map(|generation| (size(generation, 4096) / 24 - TAIL).ilog2()).collect();
        assert_eq!(slots[..8], [7, 9, 11, 13, 15, 17, 18, 19]);
        assert_eq!(slots[GENERATIONS - 1], 27);
        assert!(u32::try_from((1_u64 << 27) * 24).is_ok(), "mcount computes places in 32 bits");
        assert!(size(0, 4096) == 4096 && size(0, 12288) == 12288);
    }

    #[test]
    fn a_call_from_nowhere_is_an_arc_too() {
        let table = table(0);
        assert_eq!(table.count(0, 0x1000), Counted::Yes);
        assert_eq!(table.count(0, 0x1000), Counted::Yes);
        assert_eq!(arcs(&table), HashMap::from([((0, 0x1000), 2)]));
    }

    #[test]
    fn counts_that_are_taken_begin_anew() {
        let table = table(0);
        for (frompc, selfpc) in [(1, 0x1000), (2, 0x1000), (1, 0x1000), (1, 0x2000)] {
            assert_eq!(table.count(frompc, selfpc), Counted::Yes);
        }
        let mut taken = Vec::new();
        table.take(|_, selfpc| selfpc == 0x1000, |frompc, selfpc, count| taken.push((frompc, selfpc, count)));
        taken.sort_unstable();
        assert_eq!(taken, [(1, 0x1000, 2), (2, 0x1000, 1)]);
        assert_eq!(arcs(&table), HashMap::from([((1, 0x2000), 1)]));
        assert_eq!(table.count(1, 0x1000), Counted::Yes);
        assert_eq!(arcs(&table)[&(1, 0x1000)], 1);
        taken.clear();
        table.take(|_, selfpc| selfpc == 0x1000, |frompc, selfpc, count| taken.push((frompc, selfpc, count)));
        assert_eq!(taken, [(1, 0x1000, 1)]);
        table.empty(|_, _| true, |_, selfpc, count| taken.push((9, selfpc, count)));
        taken.sort_unstable();
        assert_eq!(taken, [(1, 0x1000, 1), (9, 0x2000, 1)]);
        assert_eq!(arcs(&table), HashMap::new());
    }

    #[test]
    fn a_drained_table_is_empty() {
        let table = table(0);
        for frompc in [1, 2, 1] {
            assert_eq!(table.count(frompc, 0x1000), Counted::Yes);
        }
        table.take(|frompc, _| frompc == 1, |_, _, count| assert_eq!(count, 2));
        assert_eq!(table.count(1, 0x1000), Counted::Yes);
        let mut drained = Vec::new();
        table.drain(|frompc, _, count| drained.push((frompc, count)));
        drained.sort_unstable();
        assert_eq!((drained, table.used()), (vec![(1, 1), (2, 1)], 0));
        assert_eq!(table.count(1, 0x1000), Counted::Yes);
        assert_eq!(arcs(&table), HashMap::from([((1, 0x1000), 1)]));
        // Taking everything leaves the counts of the file.
        let mut taken = Vec::new();
        assert!(table.take_all(|frompc, _, count| taken.push((frompc, count))));
        assert_eq!((taken, arcs(&table), table.used()), (vec![(1, 1)], HashMap::new(), 1));
    }

    #[test]
    fn taking_loses_no_call_of_a_thread_that_counts_meanwhile() {
        const CALLS: u64 = 2_000_000;
        let table = table(0);
        let done = AtomicBool::new(false);
        // Increments a count as mcount does, not atomically.
        let call = || {
            for _ in 0..CALLS {
                table.for_each_called(|_, _, _, entry| entry.count.store(entry.count.load(Relaxed) + 1, Relaxed));
            }
            done.store(true, SeqCst);
        };
        assert_eq!(table.count(1, 0x1000), Counted::Yes);
        let mut taken = 0;
        std::thread::scope(|threads| {
            threads.spawn(call);
            while !done.load(SeqCst) {
                table.take(|_, _| true, |_, _, count| taken += count);
            }
        });
        table.take(|_, _| true, |_, _, count| taken += count);
        assert_eq!(taken, CALLS + 1);
    }

    #[test]
    fn a_full_table_still_counts_what_it_has() {
        let table = table(0);
        let full = (1..).find(|n| table.count(n * 8, 0x1000) == Counted::Full).unwrap();
        assert_eq!(full, 128 / 8 + 1);
        assert_eq!(table.count(8, 0x1000), Counted::Yes);
        assert_eq!(arcs(&table)[&(8, 0x1000)], 2);
        assert_eq!(arcs(&table).len(), 128 / 8);
        // The case that there is no larger table.
        let full = (1..).find(|n| table.count_anywhere(n * 8, 0x1000) == Counted::Full).unwrap();
        assert_eq!(full, 128 / 2 + 1);
    }

    #[test]
    fn arcs_with_one_home_want_a_larger_table() {
        // Functions at the same offset in their pages.
        let arc = |n| (0x1000, 0x10_0000 + n * 4096);
        let count = |table: &Table| (0..100).take_while(|n| table.count(arc(*n).0, arc(*n).1) == Counted::Yes).count();
        let small = table(1);
        assert_eq!(small.mask(), 4096 - 8, "they differ above that only");
        assert_eq!(count(&small), 1 + FAR);
        assert_eq!(small.count(arc(FAR).0, arc(FAR).1), Counted::Yes, "those that it has, it still counts");
        assert_eq!(small.count_anywhere(0x1000, 0x20_0000), Counted::Yes, "where there is no memory for a larger one");
        assert_eq!(count(&table(2)), 4 * (1 + FAR));
    }

    #[test]
    fn one_entry_stays_empty_however_the_hashes_fall() {
        // The last slot is the home of all these arcs, and the entries behind it are near in so large a table.
        let table = table(6);
        let unlucky = (1..).map(|n| n * 8).filter(|frompc| arch::hash(*frompc, 0x1000) & table.mask() == table.mask());
        let counted = unlucky.take_while(|frompc| table.count(*frompc, 0x1000) == Counted::Yes).count();
        let tail = table.length.load(Relaxed) - 2 * SMALL;
        assert_eq!(counted, tail);
        let last = table.entry(2 * SMALL + tail - 1).unwrap();
        assert_eq!(last.selfpc.load(Relaxed), 0);
    }
}
