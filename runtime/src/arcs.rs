//! A table of arcs: open addressing with exact (frompc, selfpc) keys and 64-bit counts.
//!
//! One thread writes a table, mcount's assembly and [`Table::count`] alike, and that thread's own signal handlers may do
//! so at any moment in between. A key never moves and is never overwritten, so a handler cannot take a slot away from
//! under the code that it interrupts: a table that has become too small is left as it is, with its counts, and a larger
//! one is put before it. The counts of one arc are those of all the tables together.
//!
//! The layout is known to mcount: entries of three words, (selfpc, frompc, count); an arc's home is the low bits of its
//! hash; the search goes upwards, never around, to the first empty entry, and there always is one.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::arch;
use crate::system::{map, unmap};

/// An entry that is being filled: no selfpc, yet not empty.
const CLAIMED: usize = 1;

/// Entries behind the last home slot. The very last is never filled.
const TAIL: usize = 38;

/// A table is full when one in so many of its home slots is used: a search that goes on past the home is a branch that
/// the processor mispredicts.
const LOAD: usize = 4;

/// How much larger the next table is. Its predecessors together have a third of its size.
const GROWTH: usize = 4;

#[repr(C)]
struct Entry {
    selfpc: AtomicUsize,
    frompc: AtomicUsize,
    count: AtomicU64,
}

/// The head of a table; its entries follow in memory.
#[repr(C)]
pub(crate) struct Table {
    /// The table that this one was put before; null at the first.
    older: *const Table,
    /// Home slots, a power of two.
    slots: usize,
    /// Entries that are filled or being filled.
    used: AtomicUsize,
}

/// What became of a call that was to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Yes,
    /// The arc is not in the table and there is no room for it.
    Full,
}

/// Bytes of a table of so many home slots.
pub(crate) const fn size(slots: usize) -> usize {
    size_of::<Table>() + (slots + TAIL) * size_of::<Entry>()
}

impl Table {
    /// Makes a first table of `slots` home slots in `memory`.
    ///
    /// # Safety
    ///
    /// `memory` must be aligned to a word, have [`size`]`(slots)` bytes, all zero, belong to nobody else, and never be
    /// freed. `slots` must be a power of two.
    pub(crate) unsafe fn place(memory: *mut c_void, slots: usize, older: *const Table) -> *mut Table {
        let table: *mut Table = memory.cast();
        // SAFETY: room for the head, by the caller's promise; all else stays zero, which is an empty table.
        unsafe {
            (&raw mut (*table).older).write(older);
            (&raw mut (*table).slots).write(slots);
        }
        table
    }

    /// Makes a larger table to stand before this one; null when there is no memory.
    pub(crate) fn enlarged(&self) -> *mut Table {
        let Some(slots) = self.slots.checked_mul(GROWTH) else { return ptr::null_mut() };
        let memory = map(size(slots));
        if memory.is_null() {
            return ptr::null_mut();
        }
        // SAFETY: fresh memory of that size, all zero.
        unsafe { Table::place(memory, slots, self) }
    }

    /// Gives back a table that was made by [`Table::enlarged`] and never used.
    ///
    /// # Safety
    ///
    /// Nobody else may know of it.
    pub(crate) unsafe fn discard(table: *mut Table) {
        // SAFETY: the caller's promise; the size is the one it was mapped with.
        unsafe { unmap(table.cast(), size((*table).slots)) };
    }

    /// The table that this one was put before.
    pub(crate) fn older(&self) -> *const Table {
        self.older
    }

    /// The first entry.
    pub(crate) fn entries(&self) -> *mut c_void {
        ptr::from_ref(self).wrapping_add(1).cast_mut().cast()
    }

    /// The home slots, less one.
    pub(crate) fn mask(&self) -> usize {
        self.slots.wrapping_sub(1)
    }

    fn entry(&self, index: usize) -> Option<&Entry> {
        if index >= self.slots.wrapping_add(TAIL) {
            return None;
        }
        let entries: *const Entry = self.entries().cast();
        // SAFETY: every table has slots + TAIL entries behind its head, and is never freed.
        Some(unsafe { &*entries.add(index) })
    }

    /// Counts one call, as mcount does, and makes an entry for the arc if it is new and there is room.
    pub(crate) fn count(&self, frompc: usize, selfpc: usize) -> Counted {
        let mut index = arch::hash(frompc, selfpc) & self.mask();
        // The last entry stays empty, or mcount's search would not end.
        while let Some(entry) = self.entry(index)
            && self.entry(index.wrapping_add(1)).is_some()
        {
            let found = entry.selfpc.load(Relaxed);
            if found == selfpc && entry.frompc.load(Relaxed) == frompc {
                entry.count.fetch_add(1, Relaxed);
                return Counted::Yes;
            }
            if found == 0 {
                if self.used.load(Relaxed) >= self.slots / LOAD {
                    return Counted::Full;
                }
                if entry.selfpc.compare_exchange(0, CLAIMED, SeqCst, Relaxed).is_err() {
                    continue; // a signal handler was here: look again at what it put there
                }
                self.used.fetch_add(1, Relaxed);
                entry.frompc.store(frompc, SeqCst);
                entry.selfpc.store(selfpc, SeqCst);
                entry.count.fetch_add(1, Relaxed);
                return Counted::Yes;
            }
            index = index.wrapping_add(1);
        }
        Counted::Full
    }

    /// Hands every arc that was called to `each`, as (frompc, selfpc, count).
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize, usize, u64)) {
        let mut index = 0;
        while let Some(entry) = self.entry(index) {
            let selfpc = entry.selfpc.load(SeqCst);
            let count = entry.count.load(Relaxed);
            if selfpc != CLAIMED && count != 0 {
                each(entry.frompc.load(Relaxed), selfpc, count);
            }
            index = index.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn table(slots: usize) -> &'static Table {
        let memory = map(size(slots));
        assert!(!memory.is_null());
        // SAFETY: fresh memory that is never freed.
        unsafe { &*Table::place(memory, slots, ptr::null()) }
    }

    fn arcs(table: &Table) -> HashMap<(usize, usize), u64> {
        let mut all = HashMap::new();
        table.for_each(|frompc, selfpc, count| *all.entry((frompc, selfpc)).or_default() += count);
        all
    }

    #[test]
    fn counts_are_those_of_a_map() {
        let table = table(4096);
        let mut expected = HashMap::new();
        let mut seed = 1_usize;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (frompc, selfpc) = (0x40_0000 + (seed >> 40) % 20 * 4, 0x40_1000 + (seed >> 50) % 20 * 16);
            assert_eq!(table.count(frompc, selfpc), Counted::Yes);
            *expected.entry((frompc, selfpc)).or_default() += 1;
        }
        assert_eq!(arcs(table), expected);
    }

    #[test]
    fn a_call_from_nowhere_is_an_arc_too() {
        let table = table(128);
        assert_eq!(table.count(0, 0x1000), Counted::Yes);
        assert_eq!(table.count(0, 0x1000), Counted::Yes);
        assert_eq!(arcs(table), HashMap::from([((0, 0x1000), 2)]));
    }

    #[test]
    fn a_full_table_still_counts_what_it_has() {
        let table = table(128);
        let full = (1..).find(|n| table.count(n * 8, 0x1000) == Counted::Full).unwrap();
        assert_eq!(full, 128 / LOAD + 1);
        assert_eq!(table.count(8, 0x1000), Counted::Yes);
        assert_eq!(arcs(table)[&(8, 0x1000)], 2);
        assert_eq!(arcs(table).len(), 128 / LOAD);
    }

    #[test]
    fn one_entry_stays_empty_however_the_hashes_fall() {
        // All of these have the last slot as their home.
        let table = table(1024);
        let unlucky = (1..).map(|n| n * 8).filter(|frompc| arch::hash(*frompc, 0x1000) & 1023 == 1023);
        let counted = unlucky.take_while(|frompc| table.count(*frompc, 0x1000) == Counted::Yes).count();
        assert_eq!(counted, TAIL);
        let last = table.entry(1024 + TAIL - 1).unwrap();
        assert_eq!(last.selfpc.load(Relaxed), 0);
    }
}
