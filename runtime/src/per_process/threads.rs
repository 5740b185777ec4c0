//! The memory of the list of threads, and of their calls.

use core::ptr::{self, NonNull};
use core::slice;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::memory::{Memory, Row, Rows};
use crate::os::{clear, map, unmap};

/// The most threads that have an entry of their own.
pub(crate) const THREADS: usize = 4096;
/// The most names for which further threads are summed.
pub(crate) const NAMES: usize = 256;
/// The index of the entry of all other threads, which is the last entry.
pub(crate) const OTHERS: usize = THREADS + NAMES;

/// The counts of a thread, or of several threads of one name. An entry of zeros is free. Entries are never removed, because nodes of
/// the tree refer to them.
pub(crate) struct ThreadEntry {
    /// The system's number of the thread; 0 in an entry of a name. An entry is found once it is the latest of its list.
    pub(crate) number: AtomicI32,
    /// Whether the thread knows its entry. An entry can be made for a thread from outside of the thread.
    pub(crate) has_entered: AtomicBool,
    /// Whether the thread is known to have ended.
    pub(crate) has_ended: AtomicBool,
    /// The latest known name, padded with zeros.
    pub(crate) name: [AtomicU64; 2],
    pub(crate) ticks: AtomicU64,
    /// For the entry of a name, the number of threads with calls.
    pub(crate) threads: AtomicU64,
    /// 1 + the index of the latest entry of a thread whose number modulo [`THREADS`] is the index of this entry; 0 for none.
    pub(crate) latest: AtomicU32,
    /// 1 + the index of the entry that was the latest of the list before this one.
    pub(crate) before: AtomicU32,
    /// The index of the entry of a name to which the counts of this entry belong from now on; 0 for none.
    pub(crate) summed_in: AtomicUsize,
    pub(crate) in_file: InFile,
}

/// What a side file has for an entry, while it is written.
pub(crate) struct InFile {
    /// 1 + the index in the file; 0 if the entry is not in the file.
    pub(crate) index: AtomicU32,
    pub(crate) threads: AtomicU64,
    pub(crate) ticks: AtomicU64,
    pub(crate) calls: AtomicU64,
}

/// The threads of a process: [`THREADS`] entries of threads, [`NAMES`] entries of names, and the entry of all others.
pub(crate) struct ThreadList {
    entries: Memory,
    /// The number of entries of threads that are in use.
    pub(crate) threads: AtomicUsize,
    /// The number of entries of names that were taken. Those in the list of names are in use.
    pub(crate) names: AtomicUsize,
    /// 1 + the index of the latest entry of a name; 0 for none.
    pub(crate) latest_name: AtomicU32,
}

impl ThreadList {
    pub(super) const fn new() -> ThreadList {
        ThreadList {
            entries: Memory::none(),
            threads: AtomicUsize::new(0),
            names: AtomicUsize::new(0),
            latest_name: AtomicU32::new(0),
        }
    }

    /// Maps the list. Only touched pages take memory.
    pub(crate) fn map(&self) {
        self.entries.map((OTHERS + 1) * size_of::<ThreadEntry>());
    }

    /// All entries; empty if threads are not told apart.
    pub(crate) fn all(&self) -> &[ThreadEntry] {
        let start = self.entries.start::<ThreadEntry>();
        if start.is_null() {
            return &[];
        }
        // SAFETY: memory for that many entries, which stays mapped; zeros are valid.
        unsafe { slice::from_raw_parts(start, OTHERS + 1) }
    }

    /// Frees all entries.
    pub(super) fn clear(&self) {
        let ThreadList { entries, threads, names, latest_name } = self;
        latest_name.store(0, SeqCst);
        // The entry of all others is used without being counted.
        let has_others = self
            .all()
            .last()
            .is_some_and(|others| [&others.ticks, &others.threads].iter().any(|number| number.load(SeqCst) > 0));
        if threads.swap(0, SeqCst) + names.swap(0, SeqCst) > 0 || has_others {
            entries.clear();
        }
    }
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

/// The calls by thread that are not in the tables of the threads.
pub(crate) struct ThreadCalls {
    /// The calls of threads that have ended.
    pub(crate) of_ended: EndedCalls,
    /// The calls in unloaded objects, and between these and others, by places.
    pub(crate) settled: Rows<ThreadRow>,
    /// The calls of all threads by places, collected anew for each file.
    pub(crate) all: Rows<ThreadRow>,
}

impl ThreadCalls {
    pub(super) const fn new() -> ThreadCalls {
        ThreadCalls { of_ended: EndedCalls::new(), settled: Rows::new(), all: Rows::new() }
    }

    /// Removes all calls, and keeps the memory.
    pub(super) fn clear(&self) {
        let ThreadCalls { of_ended, settled, all } = self;
        of_ended.clear();
        for rows in [settled, all] {
            rows.clear();
            rows.lost.store(0, SeqCst);
        }
    }
}

/// The calls along an arc by a thread that has ended. A call of zeros is free.
pub(crate) struct EndedCall {
    /// 1 + the index of the thread's entry.
    pub(crate) thread: AtomicUsize,
    pub(crate) frompc: AtomicUsize,
    pub(crate) selfpc: AtomicUsize,
    /// The number of calls; 0 once they were taken out.
    pub(crate) count: AtomicU64,
}

/// A hash table of calls by run-time addresses, with open addressing. Its words are atomic because code below mcount changes the
/// table, which may not use vector registers: the compiler does not combine the accesses of atomic words. Only the writer of files
/// uses the table.
pub(crate) struct EndedCalls {
    start: AtomicPtr<EndedCall>,
    /// The number of slots, a power of two.
    slots: AtomicUsize,
    /// The number of slots that are in use.
    pub(crate) used: AtomicUsize,
    /// The number of used slots above which ended threads are summed; 0 for the first bound.
    pub(crate) bound: AtomicUsize,
}

impl EndedCalls {
    pub(crate) const fn new() -> EndedCalls {
        EndedCalls {
            start: AtomicPtr::new(ptr::null_mut()),
            slots: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            bound: AtomicUsize::new(0),
        }
    }

    /// All slots.
    pub(crate) fn slots(&self) -> &[EndedCall] {
        let start = self.start.load(SeqCst);
        if start.is_null() {
            return &[];
        }
        // SAFETY: memory for that many calls; zeros are valid. Only `replace` unmaps the memory.
        unsafe { slice::from_raw_parts(start, self.slots.load(Relaxed)) }
    }

    /// Maps empty slots for [`EndedCalls::replace`]; `None` if there is no memory. The number must be a power of two.
    pub(crate) fn map(slots: usize) -> Option<NonNull<[EndedCall]>> {
        let start = NonNull::new(map(slots.checked_mul(size_of::<EndedCall>())?))?;
        Some(NonNull::slice_from_raw_parts(start.cast(), slots))
    }

    /// Replaces all slots by `other`, of which some are `used`.
    ///
    /// # Safety
    ///
    /// The slots must be those of [`EndedCalls::map`], and nobody may use the slots from before.
    pub(crate) unsafe fn replace(&self, other: NonNull<[EndedCall]>, used: usize) {
        let (start, slots) = (self.start.load(SeqCst), self.slots.load(Relaxed));
        // A thread that takes over as the writer must find no more slots than there are.
        self.slots.store(0, SeqCst);
        self.start.store(other.as_ptr().cast(), SeqCst);
        self.slots.store(other.len(), SeqCst);
        self.used.store(used, SeqCst);
        if !start.is_null() {
            // SAFETY: all of the memory that `map` mapped; the caller's promise.
            unsafe { unmap(start.cast(), slots * size_of::<EndedCall>()) };
        }
    }

    fn clear(&self) {
        let EndedCalls { start, slots, used, bound } = self;
        [used, bound].iter().for_each(|number| number.store(0, SeqCst));
        let start = start.load(SeqCst);
        if !start.is_null() {
            // SAFETY: all of the memory that `map` mapped; the child of a fork has no other thread.
            unsafe { clear(start.cast(), slots.load(SeqCst) * size_of::<EndedCall>()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_other_threads_are_cleared_too() {
        let list = ThreadList::new();
        list.clear();
        list.map();
        let others = &list.all()[OTHERS];
        for number in [&others.ticks, &others.threads] {
            number.store(5, SeqCst);
            list.clear();
            assert_eq!(number.load(SeqCst), 0);
        }
    }
}
