//! The calls of threads that have ended, if threads are told apart.
//!
//! A new thread takes the record of an ended thread, with its tables. Before, the calls of the ended thread move to one
//! table of the process. Only the writer of files uses that table, so the new thread becomes the writer for a moment.
//! The code runs below mcount.

use core::ptr::{self, NonNull};
use core::slice;
use core::sync::atomic::{
    AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::os::{WALKS_STACKS, clear, map, unmap};
use crate::samples::contexts::Contexts;
use crate::samples::contexts::threads::{sum_ended, sum_names, target};
use crate::state::Resettable;

/// The most slots in use, 32 MB. Beyond that, the calls of ended threads are summed by name.
const MOST: usize = 1 << 19;
/// The fewest slots.
const FIRST: usize = 1 << 10;

/// The calls along an arc by a thread that has ended. A call of zeros is free.
pub(super) struct EndedCall {
    /// 1 + the index of the thread's entry.
    pub(super) thread: AtomicUsize,
    pub(super) frompc: AtomicUsize,
    pub(super) selfpc: AtomicUsize,
    /// The number of calls; 0 once they were taken out.
    pub(super) count: AtomicU64,
}

/// A hash table of calls by run-time addresses, with open addressing. Its words are atomic because code below mcount
/// changes the table, which may not use vector registers: the compiler does not combine the accesses of atomic words.
/// Only the writer of files uses the table.
pub(super) struct EndedCalls {
    start: AtomicPtr<EndedCall>,
    /// The number of slots, a power of two.
    slots: AtomicUsize,
    /// The number of slots that are in use.
    pub(super) used: AtomicUsize,
    /// The number of used slots above which ended threads are summed; 0 for the first bound.
    pub(super) bound: AtomicUsize,
}

impl EndedCalls {
    pub(super) const fn new() -> EndedCalls {
        EndedCalls {
            start: AtomicPtr::new(ptr::null_mut()),
            slots: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            bound: AtomicUsize::new(0),
        }
    }

    /// All slots.
    pub(super) fn slots(&self) -> &[EndedCall] {
        let start = self.start.load(SeqCst);
        if start.is_null() {
            return &[];
        }
        // SAFETY: memory for that many calls; zeros are valid. Only `replace` unmaps the memory.
        unsafe { slice::from_raw_parts(start, self.slots.load(Relaxed)) }
    }

    /// Maps empty slots for [`EndedCalls::replace`]; `None` if there is no memory. The number must be a power of two.
    pub(super) fn map(slots: usize) -> Option<NonNull<[EndedCall]>> {
        let start = NonNull::new(map(slots.checked_mul(size_of::<EndedCall>())?))?;
        Some(NonNull::slice_from_raw_parts(start.cast(), slots))
    }

    /// Replaces all slots by `other`, of which some are `used`.
    ///
    /// # Safety
    ///
    /// The slots must be those of [`EndedCalls::map`], and nobody may use the slots from before.
    pub(super) unsafe fn replace(&self, other: NonNull<[EndedCall]>, used: usize) {
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
}

/// A child removes all calls, and keeps the memory.
impl Resettable for EndedCalls {
    const VALUE: EndedCalls = EndedCalls::new();

    #[inline(always)]
    fn reset(&self) {
        if !WALKS_STACKS {
            return;
        }
        let EndedCalls { start, slots, used, bound } = self;
        [used, bound].iter().for_each(|number| number.store(0, SeqCst));
        let start = start.load(SeqCst);
        if !start.is_null() {
            // SAFETY: all of the memory that `map` mapped; the child has no other thread.
            unsafe { clear(start.cast(), slots.load(SeqCst) * size_of::<EndedCall>()) };
        }
    }

    #[cfg(test)]
    fn change(&self) {
        // SAFETY: there were no slots.
        unsafe { self.replace(EndedCalls::map(1024).unwrap(), 1) };
        self.slots()[1000].count.store(7, Relaxed);
        self.bound.store(7, Relaxed);
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        let EndedCalls { start: _, slots: _, used, bound } = self;
        let is_free = |call: &EndedCall| {
            let EndedCall { thread, frompc, selfpc, count } = call;
            [thread, frompc, selfpc].iter().all(|word| word.load(Relaxed) == 0) && count.load(Relaxed) == 0
        };
        (used.load(Relaxed), bound.load(Relaxed)) == (0, 0) && self.slots().iter().all(is_free)
    }
}

impl EndedCalls {
    /// Passes all calls to `each`, as (thread, frompc, selfpc, count).
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, usize, usize, u64)) {
        self.for_each_called(|thread, frompc, selfpc, call| each(thread, frompc, selfpc, call.count.load(Relaxed)));
    }

    /// Takes out the calls for which `is_wanted` returns true for (frompc, selfpc), and passes them to `each`.
    pub(super) fn take(
        &self,
        mut is_wanted: impl FnMut(usize, usize) -> bool,
        mut each: impl FnMut(usize, usize, usize, u64),
    ) {
        self.for_each_called(|thread, frompc, selfpc, call| {
            if is_wanted(frompc, selfpc) {
                each(thread, frompc, selfpc, call.count.swap(0, Relaxed));
            }
        });
    }

    fn for_each_called(&self, mut each: impl FnMut(usize, usize, usize, &EndedCall)) {
        for call in self.slots() {
            if let Some(thread) = call.thread.load(Relaxed).checked_sub(1)
                && call.count.load(Relaxed) > 0
            {
                each(thread, call.frompc.load(Relaxed), call.selfpc.load(Relaxed), call);
            }
        }
    }

    /// Makes room for the calls along `more` arcs; false if there is no memory.
    pub(super) fn reserve(&self, contexts: &Contexts, more: usize) -> bool {
        let bound = self.bound.load(Relaxed).max(MOST);
        // Where nothing is, nothing can be summed.
        let is_in_use = self.used.load(Relaxed) > 0;
        if is_in_use && self.used.load(Relaxed) + more > bound {
            sum_ended(contexts);
            let mut is_rebuilt = self.rebuild(contexts, self.slots().len());
            if self.used.load(Relaxed) > bound / 2 {
                sum_names(contexts);
                is_rebuilt &= self.rebuild(contexts, self.slots().len());
            }
            if !is_rebuilt {
                return false;
            }
            // Sums that do not help are not made again for each thread.
            self.bound.store((self.used.load(Relaxed) + more) * 2, Relaxed);
        }
        let needed = (self.used.load(Relaxed) + more) * 2;
        needed <= self.slots().len()
            || needed.checked_next_power_of_two().is_some_and(|slots| self.rebuild(contexts, slots.max(FIRST)))
    }

    /// Adds calls, for which there must be room.
    pub(super) fn add(&self, thread: usize, frompc: usize, selfpc: usize, count: u64) {
        let is_new = add(self.slots(), thread, (frompc, selfpc), count);
        self.used.fetch_add(usize::from(is_new), Relaxed);
    }

    /// Moves all calls to new slots, without those that were taken out; false if there is no memory.
    fn rebuild(&self, contexts: &Contexts, slots: usize) -> bool {
        let Some(other) = EndedCalls::map(slots) else { return false };
        let mut used = 0;
        self.for_each(|thread, frompc, selfpc, count| {
            // SAFETY: mapped above.
            let slots = unsafe { other.as_ref() };
            used += usize::from(add(slots, target(contexts, thread), (frompc, selfpc), count));
        });
        // SAFETY: this is the writer, and it has no slots from before.
        unsafe { self.replace(other, used) };
        true
    }
}

/// Adds calls to slots, in which there must be room. The result is whether the calls have a new slot.
fn add(slots: &[EndedCall], thread: usize, (frompc, selfpc): (usize, usize), count: u64) -> bool {
    let mask = slots.len().wrapping_sub(1);
    let mut at = hash(thread, frompc, selfpc);
    for _ in slots {
        let Some(call) = slots.get(at & mask) else { return false };
        let found = call.thread.load(Relaxed);
        if found == 0 {
            call.frompc.store(frompc, Relaxed);
            call.selfpc.store(selfpc, Relaxed);
            call.thread.store(thread + 1, Relaxed);
        } else if found != thread + 1 || !is_along(call, frompc, selfpc) {
            at = at.wrapping_add(1);
            continue;
        }
        call.count.fetch_add(count, Relaxed);
        return found == 0;
    }
    false
}

fn is_along(call: &EndedCall, frompc: usize, selfpc: usize) -> bool {
    call.frompc.load(Relaxed) == frompc && call.selfpc.load(Relaxed) == selfpc
}

fn hash(thread: usize, frompc: usize, selfpc: usize) -> usize {
    let mixed = (frompc ^ selfpc.rotate_left(24) ^ thread.rotate_left(48)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;
    use crate::samples::contexts::{OTHERS, THREADS};

    fn calls(table: &EndedCalls) -> BTreeMap<(usize, usize, usize), u64> {
        let mut calls = BTreeMap::new();
        table.for_each(|thread, frompc, selfpc, count| *calls.entry((thread, frompc, selfpc)).or_default() += count);
        calls
    }

    /// A list with threads that have ended, whose names are numbers.
    fn ended(names: &[u64]) -> Contexts {
        let contexts = Contexts::new();
        contexts.threads.map();
        contexts.threads.threads.store(names.len(), SeqCst);
        for (entry, name) in contexts.threads.all().iter().zip(names) {
            entry.name[0].store(*name, SeqCst);
            entry.has_ended.store(true, SeqCst);
        }
        contexts
    }

    #[test]
    fn calls_are_added_by_thread_and_arc() {
        let (contexts, table) = (ended(&[]), EndedCalls::new());
        let mut expected = BTreeMap::new();
        for number in 0..50_000_usize {
            let (thread, frompc, selfpc) = (number % 7, number % 1000 * 5, number % 90 * 16);
            assert!(table.reserve(&contexts, 1));
            assert!(2 * (table.used.load(SeqCst) + 1) <= table.slots().len(), "half of the slots stay free");
            table.add(thread, frompc, selfpc, 3);
            *expected.entry((thread, frompc, selfpc)).or_default() += 3;
        }
        assert_eq!(calls(&table), expected);
        let mut taken = BTreeMap::new();
        let is_wanted = |frompc: usize, _| frompc.is_multiple_of(2);
        table.take(is_wanted, |thread, frompc, selfpc, count| {
            taken.insert((thread, frompc, selfpc), count);
        });
        let (expected, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            expected.into_iter().partition(|((_, frompc, _), _)| is_wanted(*frompc, 0));
        assert_eq!((taken, calls(&table)), (expected, left));
    }

    #[test]
    fn a_thread_with_more_arcs_than_the_bound_can_be_the_first() {
        let (contexts, table) = (ended(&[77]), EndedCalls::new());
        assert!(table.reserve(&contexts, MOST + 1));
        (0..=MOST).for_each(|arc| table.add(0, 8 * arc, 16, 1));
        assert_eq!(calls(&table).len(), MOST + 1);
        assert!(table.reserve(&contexts, 1));
        assert_eq!(calls(&table).values().sum::<u64>(), MOST as u64 + 1);
        // The sums did not help, so they are made again when there are twice as many calls.
        assert_eq!(table.bound.load(SeqCst), 2 * (MOST + 2));
    }

    #[test]
    fn ended_threads_are_summed_by_name_when_they_have_too_many_calls() {
        const ARCS: usize = MOST / 4;
        let contexts = ended(&[77, 88, 77, 77, 88]);
        let table = EndedCalls::new();
        let end = |thread: usize, table: &EndedCalls| {
            assert!(table.reserve(&contexts, ARCS));
            (0..ARCS).for_each(|arc| table.add(thread, 8 * arc, 16, 1));
        };
        (0..4).for_each(|thread| end(thread, &table));
        assert_eq!(calls(&table).len(), 4 * ARCS, "the bound is not reached");
        end(4, &table);
        let (first, second) = (THREADS, THREADS + 1);
        let summed = calls(&table);
        assert_eq!((summed[&(first, 8, 16)], summed[&(second, 8, 16)], summed[&(4, 8, 16)]), (3, 1, 1));
        assert_eq!(summed.values().sum::<u64>(), 5 * ARCS as u64);
        let all = contexts.threads.all();
        assert_eq!([first, second].map(|name| all[name].name[0].load(SeqCst)), [77, 88]);
        assert_eq!([0, 1, 2, 3, 4].map(|thread| target(&contexts, thread)), [first, second, first, first, second]);
        assert!(table.slots().len() <= 4 * MOST);
    }

    #[test]
    fn names_are_summed_if_that_is_not_enough() {
        const THREADS_WITH_NAMES: usize = 12;
        const ARCS: usize = MOST / 10;
        let contexts = ended(&(1..=THREADS_WITH_NAMES as u64).collect::<Vec<_>>());
        let table = EndedCalls::new();
        for thread in 0..THREADS_WITH_NAMES {
            assert!(table.reserve(&contexts, ARCS));
            (0..ARCS).for_each(|arc| table.add(thread, 8 * arc, 16, 1));
        }
        let summed = calls(&table);
        assert_eq!(summed.values().sum::<u64>(), (THREADS_WITH_NAMES * ARCS) as u64);
        assert!(summed.keys().any(|(thread, _, _)| *thread == OTHERS));
        assert!(summed.len() <= MOST);
        assert_eq!(target(&contexts, 0), OTHERS);
    }
}
