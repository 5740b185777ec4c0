//! The threads of ticks, which are the first level of the tree if the user wants to tell threads apart.

use core::slice;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::os::{thread_id, thread_name};
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
    let (all, number) = (all(contexts), thread_id());
    let home = number as usize % THREADS;
    let is_own = |index: &usize| all.get(*index).is_some_and(|thread| is_of(thread, number));
    // A seccomp filter may hide the number.
    let own = (home..home + TRIES).map(|index| index % THREADS).find(|index| number > 0 && is_own(index));
    if let Some(thread) = own.and_then(|index| all.get(index)) {
        for (place, word) in thread.name.iter().zip(thread_name()) {
            place.store(word, Relaxed);
        }
    }
    count_at(contexts, own.unwrap_or(THREADS), ticks)
}

/// The index of the entry for threads that are not told apart, for which ticks are counted.
pub(super) fn count_others(contexts: &Contexts, ticks: u32) -> usize {
    count_at(contexts, THREADS, ticks)
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
