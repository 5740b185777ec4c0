//! The memory of the list of threads.

use core::slice;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};

use crate::memory::Memory;
#[cfg(test)]
use crate::state::Resettable;

/// The most threads that have an entry of their own.
pub(crate) const THREADS: usize = 4096;
/// The most names for which further threads are summed.
pub(crate) const NAMES: usize = 256;
/// The index of the entry of all other threads, which is the last entry.
pub(crate) const OTHERS: usize = THREADS + NAMES;

/// The counts of a thread, or of several threads of one name. An entry of zeros is free. Entries are never removed,
/// because nodes of the tree refer to them.
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
    /// 1 + the index of the latest entry of a thread whose number modulo [`THREADS`] is the index of this entry; 0 for
    /// none.
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

#[cfg(test)]
impl ThreadList {
    pub(super) fn change(&self) {
        let ThreadList { entries: _, threads, names, latest_name } = self;
        self.map();
        self.all()[0].ticks.store(7, SeqCst);
        threads.store(1, SeqCst);
        names.store(1, SeqCst);
        latest_name.store(7, SeqCst);
    }

    pub(super) fn is_first(&self) -> bool {
        let ThreadList { entries, threads, names, latest_name } = self;
        entries.is_first() && (threads.load(SeqCst), names.load(SeqCst), latest_name.load(SeqCst)) == (0, 0, 0)
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
