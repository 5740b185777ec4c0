//! The threads of ticks, which are the first level of the tree if the user wants to tell threads apart.

use core::slice;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::os::{name_of_thread, thread_id, thread_name};
use crate::per_process::{ContextThread, Contexts, THREADS};

/// The number of entries in which a thread looks for its own.
const TRIES: usize = 64;

/// Maps the list of threads. Only touched pages take memory.
pub(super) fn map(contexts: &Contexts) {
    contexts.threads.map((THREADS + 1) * size_of::<ContextThread>());
}

/// All threads that are told apart, and the entry of all others; empty if threads are not told apart.
pub(crate) fn all(contexts: &Contexts) -> &[ContextThread] {
    let start = contexts.threads.start::<ContextThread>();
    if start.is_null() {
        return &[];
    }
    // SAFETY: memory for that many threads, which stays mapped; zeros are valid.
    unsafe { slice::from_raw_parts(start, THREADS + 1) }
}

/// The index of this thread, for which ticks are counted. The kernel may give the number of an ended thread to a new thread:
/// both are then one thread with the newer name. Called in signal handlers.
pub(super) fn count(contexts: &Contexts, ticks: u32) -> usize {
    let index = index_of(contexts, thread_id());
    if let Some(thread) = index.and_then(|index| all(contexts).get(index)) {
        set_name(thread, thread_name());
    }
    count_at(contexts, index.unwrap_or(THREADS), ticks)
}

/// The index of the thread with this number, for which ticks are counted. If the thread has no name yet, the function looks at the
/// thread's name. Called in signal handlers.
pub(super) fn count_of(contexts: &Contexts, number: i32, ticks: u32) -> usize {
    let index = index_of(contexts, number);
    let thread = index.and_then(|index| all(contexts).get(index));
    if let Some(thread) = thread.filter(|thread| thread.name[0].load(Relaxed) == 0) {
        set_name(thread, name_of_thread(number));
    }
    count_at(contexts, index.unwrap_or(THREADS), ticks)
}

/// Sets the name of the thread with this number, padded with zeros. Called in signal handlers.
#[inline(never)]
pub(super) fn name(contexts: &Contexts, number: i32, name: [u64; 2]) {
    if let Some(thread) = index_of(contexts, number).and_then(|index| all(contexts).get(index)) {
        set_name(thread, name);
    }
}

fn set_name(thread: &ContextThread, name: [u64; 2]) {
    for (place, word) in thread.name.iter().zip(name) {
        place.store(word, Relaxed);
    }
}

/// The index of the thread with this number, which gets an entry if it has none; `None` if there is no room. A seccomp filter may
/// hide the number, which is then not positive.
fn index_of(contexts: &Contexts, number: i32) -> Option<usize> {
    let all = all(contexts);
    let home = usize::try_from(number).ok().filter(|number| *number > 0 && !all.is_empty())? % THREADS;
    let is_own = |index: &usize| all.get(*index).is_some_and(|thread| is_of(thread, number));
    (home..home + TRIES).map(|index| index % THREADS).find(is_own)
}

fn count_at(contexts: &Contexts, index: usize, ticks: u32) -> usize {
    if let Some(thread) = all(contexts).get(index) {
        thread.ticks.fetch_add(u64::from(ticks), Relaxed);
    }
    index
}

/// Whether an entry is that of the thread with this number, or becomes it.
fn is_of(thread: &ContextThread, number: i32) -> bool {
    match thread.number.load(Relaxed) {
        0 => thread.number.compare_exchange(0, number, SeqCst, SeqCst).map_or_else(|now| now == number, |_| true),
        taken => taken == number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_found_and_named_by_their_numbers() {
        let contexts = Contexts::new();
        assert_eq!(count_of(&contexts, 7, 1), THREADS, "threads are not told apart");
        map(&contexts);
        // No thread of this process has these numbers.
        let [one, other] = [7, 7 + THREADS as i32].map(|number| count_of(&contexts, number, 2));
        assert_ne!(one, other);
        assert_eq!(
            [count_of(&contexts, 7, 3), count_of(&contexts, 0, 4), count_of(&contexts, -1, 5)],
            [one, THREADS, THREADS]
        );
        name(&contexts, 7, [1, 2]);
        name(&contexts, 7 + THREADS as i32, [3, 4]);
        name(&contexts, 7 + THREADS as i32, [5, 0]);
        name(&contexts, 0, [6, 6]);
        let found = [one, other, THREADS].map(|index| {
            let thread = &all(&contexts)[index];
            (thread.ticks.load(Relaxed), [0, 1].map(|word| thread.name[word].load(Relaxed)))
        });
        assert_eq!(found, [(5, [1, 2]), (2, [5, 0]), (9, [0, 0])]);
    }
}
