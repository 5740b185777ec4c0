//! Which entry of the list of threads has the calls of a thread's tables, if threads are told apart.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::os::store_thread_name;
use crate::samples::contexts::threads::{add_threads, of_name, own, see_name};
use crate::samples::contexts::{Contexts, OTHERS, THREADS};

/// The entry that has the calls of a thread's tables. Zeros are no entry.
pub(super) struct EntryOfCalls {
    /// 1 + the index of the entry.
    index: AtomicUsize,
    /// The latest known name of a thread without an entry of its own.
    name: [AtomicU64; 2],
}

impl EntryOfCalls {
    /// The index of the entry.
    pub(super) fn index(&self) -> usize {
        self.index.load(Relaxed).checked_sub(1).unwrap_or(OTHERS)
    }

    /// Makes this thread the one whose calls are counted.
    pub(super) fn begin(&self, contexts: &Contexts) {
        self.name.iter().for_each(|word| word.store(0, Relaxed));
        let own = own(contexts);
        self.index.store(own.unwrap_or(OTHERS) + 1, Relaxed);
        if own.is_none() {
            add_threads(contexts, OTHERS, 1);
        }
        self.see_name(contexts);
    }

    /// Looks at the name of this thread, which may have changed.
    pub(super) fn see_name(&self, contexts: &Contexts) {
        let index = self.index();
        if index < THREADS {
            return see_name(contexts, index);
        }
        store_thread_name(&self.name);
        let named = of_name(contexts, &self.name);
        if named != index && self.index.compare_exchange(index + 1, named + 1, Relaxed, Relaxed).is_ok() {
            add_threads(contexts, index, -1);
            add_threads(contexts, named, 1);
        }
    }

    /// Notes that the thread has ended. Call this when its calls were taken out of its tables.
    pub(super) fn end(&self, contexts: &Contexts) {
        if let Some(entry) = contexts.threads.all().get(self.index()).filter(|_| self.index() < THREADS) {
            entry.has_ended.store(true, Relaxed);
        }
        self.forget();
    }

    /// Forgets the entry. Call this when there are neither the thread nor its calls any more.
    pub(super) fn forget(&self) {
        self.index.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::set_entry_index;

    #[test]
    fn threads_beyond_the_bound_are_counted_under_their_latest_names() {
        let contexts = Contexts::new();
        contexts.threads.map();
        set_entry_index(None);
        contexts.threads.threads.store(THREADS, Relaxed);
        let calls = EntryOfCalls { index: AtomicUsize::new(0), name: [const { AtomicU64::new(0) }; 2] };
        calls.begin(&contexts);
        let own_name = [const { AtomicU64::new(0) }; 2];
        store_thread_name(&own_name);
        let named = of_name(&contexts, &own_name);
        assert_eq!(calls.index(), named);
        let entries = contexts.threads.all();
        assert_eq!([named, OTHERS].map(|index| entries[index].threads.load(Relaxed)), [1, 0]);
        calls.end(&contexts);
        assert!(!entries[named].has_ended.load(Relaxed) && calls.index() == OTHERS);
        set_entry_index(None);
    }

    #[test]
    fn a_thread_has_an_entry_of_its_own() {
        let contexts = Contexts::new();
        contexts.threads.map();
        set_entry_index(None);
        let calls = EntryOfCalls { index: AtomicUsize::new(0), name: [const { AtomicU64::new(0) }; 2] };
        calls.begin(&contexts);
        let entries = contexts.threads.all();
        assert_eq!((calls.index(), entries[OTHERS].threads.load(Relaxed)), (0, 0));
        let own_name = [const { AtomicU64::new(0) }; 2];
        store_thread_name(&own_name);
        let name = |words: &[AtomicU64; 2]| words.each_ref().map(|word| word.load(Relaxed));
        assert_eq!(name(&entries[0].name), name(&own_name));
        calls.end(&contexts);
        assert!(entries[0].has_ended.load(Relaxed) && calls.index() == OTHERS);
        set_entry_index(None);
    }

    #[test]
    fn a_thread_that_changes_its_name_moves_to_the_entry_of_the_new_name() {
        let contexts = Contexts::new();
        contexts.threads.map();
        contexts.threads.threads.store(THREADS, Relaxed);
        let calls = EntryOfCalls { index: AtomicUsize::new(0), name: [const { AtomicU64::new(0) }; 2] };
        let run = |name: &str, run: &(dyn Fn() + Sync)| {
            std::thread::scope(|scope| {
                std::thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, run).unwrap().join().unwrap();
            });
        };
        run("first", &|| calls.begin(&contexts));
        let first = calls.index();
        run("second", &|| calls.see_name(&contexts));
        let second = calls.index();
        assert!(first != second && [first, second].iter().all(|index| (THREADS..OTHERS).contains(index)));
        let threads = |index: usize| contexts.threads.all()[index].threads.load(Relaxed);
        assert_eq!([first, second, OTHERS].map(threads), [0, 1, 0]);
    }
}
