//! Finds the entries of threads, which are the first level of the tree if the user wants to tell threads apart.
//!
//! The first threads have an entry each, at most [`THREADS`]. The counts of further threads are summed by name, and if
//! there are more than [`NAMES`] names, in one entry of all others. A thread knows the index of its entry, so a thread
//! that gets the number of an ended thread from the kernel has another entry. Everything here may be called in signal
//! handlers, and below mcount unless said otherwise.

use core::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, SeqCst},
};

use super::storage::{Contexts, NAMES, OTHERS, THREADS, ThreadEntry};
use crate::arch::{entry_index, set_entry_index};
use crate::os::{name_of_thread, store_thread_name, thread_id};

/// The index of the entry of this thread, for which ticks are counted. Not for code below mcount.
pub(super) fn count(contexts: &Contexts, ticks: u32) -> usize {
    let index = own(contexts).unwrap_or_else(|| {
        let name = [const { AtomicU64::new(0) }; 2];
        store_thread_name(&name);
        of_name(contexts, &name)
    });
    if index < THREADS {
        see_name(contexts, index);
    }
    count_at(contexts, index, ticks)
}

/// The index of the entry of the thread with this number, for which ticks are counted: see [`of_number`]. If the thread
/// has no name yet, the function looks at the thread's name. Not for code below mcount.
pub(super) fn count_of(contexts: &Contexts, number: i32, ticks: u32) -> usize {
    let Some(index) = of_number(contexts, number) else {
        let name = name_of_thread(number).map(AtomicU64::new);
        return count_at(contexts, of_name(contexts, &name), ticks);
    };
    let entry = contexts.threads.all().get(index);
    if let Some(entry) = entry.filter(|entry| entry.name.iter().all(|word| word.load(Relaxed) == 0)) {
        see_name_outside(entry);
    }
    count_at(contexts, index, ticks)
}

/// Sets the name of the thread with this number, padded with zeros. Not for code below mcount.
#[inline(never)]
pub(super) fn name(contexts: &Contexts, number: i32, name: [u64; 2]) {
    if let Some(entry) = of_number(contexts, number).and_then(|index| contexts.threads.all().get(index)) {
        entry.name.iter().zip(name).for_each(|(to, from)| to.store(from, Relaxed));
    }
}

fn count_at(contexts: &Contexts, index: usize, ticks: u32) -> usize {
    if let Some(thread) = contexts.threads.all().get(index) {
        thread.ticks.fetch_add(u64::from(ticks), Relaxed);
    }
    index
}

/// The index of this thread's own entry, which is made if necessary; `None` if the thread is counted under its name.
pub(crate) fn own(contexts: &Contexts) -> Option<usize> {
    let number = thread_id();
    let Some(index) = entry_index() else {
        let index = claim(contexts, number);
        // A handler may have stored an index meanwhile.
        if entry_index().is_none() {
            set_entry_index(Some(index.unwrap_or(OTHERS)));
        }
        return entry_index().filter(|index| *index < THREADS);
    };
    let entry = contexts.threads.all().get(index).filter(|_| index < THREADS)?;
    // A thread without thread-local storage of its own shares that of the thread which made it. A filter may hide the
    // number.
    let is_own = number <= 0 || entry.number.load(Relaxed) == number;
    if is_own { Some(index) } else { of_number(contexts, number) }
}

/// The index of an entry for this thread, which does not know its entry yet: one that was made from outside, or a new
/// one.
fn claim(contexts: &Contexts, number: i32) -> Option<usize> {
    let mut made = entries_of(contexts, number).filter(|(_, entry)| !entry.has_entered.swap(true, SeqCst));
    made.next().map(|(index, _)| index).or_else(|| add(contexts, number, true))
}

/// The index of the entry of the latest thread with this number, which is made if necessary; `None` if all entries of
/// threads are in use, or the number is not known. For samples that are counted outside of their thread, and for
/// threads that share their thread-local storage with another thread.
///
/// If a thread has ended that was counted, and another thread with its number was not counted yet, the entry is that of
/// the ended thread.
pub(super) fn of_number(contexts: &Contexts, number: i32) -> Option<usize> {
    entries_of(contexts, number).next().map(|(index, _)| index).or_else(|| add(contexts, number, false))
}

/// The entries of threads with this number, the latest first.
fn entries_of(contexts: &Contexts, number: i32) -> impl Iterator<Item = (usize, &ThreadEntry)> {
    let latest = home(contexts, number).map_or(0, |home| home.latest.load(Acquire));
    listed(contexts, latest).filter(move |(_, entry)| entry.number.load(Relaxed) == number)
}

/// The entries of a list, from the latest on, which is given by 1 + its index; 0 for an empty list.
fn listed(contexts: &Contexts, latest: u32) -> impl Iterator<Item = (usize, &ThreadEntry)> {
    let all = contexts.threads.all();
    let mut next = latest;
    core::iter::from_fn(move || {
        let index = (next as usize).checked_sub(1)?;
        let entry = all.get(index)?;
        next = entry.before.load(Relaxed);
        Some((index, entry))
    })
}

/// The entry that has the start of the list of threads with this number.
fn home(contexts: &Contexts, number: i32) -> Option<&ThreadEntry> {
    if number <= 0 { None } else { contexts.threads.all().get(number as usize % THREADS) }
}

/// Makes an entry for a thread.
fn add(contexts: &Contexts, number: i32, has_entered: bool) -> Option<usize> {
    let home = home(contexts, number)?;
    let index = take(&contexts.threads.threads, THREADS)?;
    let entry = contexts.threads.all().get(index)?;
    entry.has_entered.store(has_entered, Relaxed);
    entry.number.store(number, Relaxed);
    let mut before = home.latest.load(Relaxed);
    while let Err(now) = enlist(entry, index, &home.latest, before) {
        before = now;
    }
    Some(index)
}

/// Makes an entry the latest of a list whose latest entry was `before`. If that has changed, the error is the entry
/// that is the latest now, and the list stays as it is.
fn enlist(entry: &ThreadEntry, index: usize, latest: &AtomicU32, before: u32) -> Result<u32, u32> {
    entry.before.store(before, Relaxed);
    latest.compare_exchange(before, index as u32 + 1, SeqCst, Acquire)
}

/// Takes a number below a bound.
fn take(used: &AtomicUsize, most: usize) -> Option<usize> {
    let mut next = used.load(Relaxed);
    loop {
        if next >= most {
            return None;
        }
        match used.compare_exchange_weak(next, next + 1, SeqCst, Relaxed) {
            Ok(_) => return Some(next),
            Err(now) => next = now,
        }
    }
}

/// The index of the entry of all threads with a name, which is made if necessary; the entry of all others if there are
/// too many names, or the name is not known. No two entries have the same name.
pub(crate) fn of_name(contexts: &Contexts, name: &[AtomicU64; 2]) -> usize {
    of_name_meanwhile(contexts, name, || ())
}

/// As [`of_name`]. If there is no entry of the name, `meanwhile` runs before a new entry is made, as a signal handler
/// or another thread may run there.
fn of_name_meanwhile(contexts: &Contexts, name: &[AtomicU64; 2], meanwhile: impl FnOnce()) -> usize {
    if name.iter().all(|word| word.load(Relaxed) == 0) {
        return OTHERS;
    }
    let threads = &contexts.threads;
    let mut latest = threads.latest_name.load(Acquire);
    if let Some(index) = with_name(contexts, latest, name) {
        return index;
    }
    meanwhile();
    let taken = take(&threads.names, NAMES).map(|index| THREADS + index);
    let Some((index, entry)) = taken.and_then(|index| Some((index, threads.all().get(index)?))) else {
        return with_name(contexts, threads.latest_name.load(Acquire), name).unwrap_or(OTHERS);
    };
    entry.name.iter().zip(name).for_each(|(to, from)| to.store(from.load(Relaxed), Relaxed));
    // An entry counts once it is in the list. If the list has changed, it may have the name now.
    while let Err(now) = enlist(entry, index, &threads.latest_name, latest) {
        if let Some(made) = with_name(contexts, now, name) {
            // If another entry was taken in the meantime, this one stays unused.
            let used = index - THREADS;
            let _ = threads.names.compare_exchange(used + 1, used, SeqCst, Relaxed);
            return made;
        }
        latest = now;
    }
    index
}

/// The index of the entry of a name in the list of names from the latest on.
fn with_name(contexts: &Contexts, latest: u32, name: &[AtomicU64; 2]) -> Option<usize> {
    listed(contexts, latest).find(|(_, entry)| is_same(&entry.name, name)).map(|(index, _)| index)
}

fn is_same(name: &[AtomicU64; 2], other: &[AtomicU64; 2]) -> bool {
    name.iter().zip(other).all(|(word, other)| word.load(Relaxed) == other.load(Relaxed))
}

/// The index of the entry to which the counts of an entry belong.
pub(crate) fn target(contexts: &Contexts, index: usize) -> usize {
    let all = contexts.threads.all();
    let mut index = index;
    // A thread is summed in a name, and a name in all others.
    for _ in 0..2 {
        match all.get(index).map_or(0, |entry| entry.summed_in.load(Relaxed)) {
            0 => break,
            sum => index = sum,
        }
    }
    index
}

/// Sums the counts of all ended threads by name from now on.
pub(crate) fn sum_ended(contexts: &Contexts) {
    for entry in contexts.threads.all().iter().take(contexts.threads.threads.load(Relaxed)) {
        if entry.has_ended.load(Relaxed) && entry.summed_in.load(Relaxed) == 0 {
            entry.summed_in.store(of_name(contexts, &entry.name), Relaxed);
        }
    }
}

/// Sums the counts of all names from now on.
pub(crate) fn sum_names(contexts: &Contexts) {
    let names = listed(contexts, contexts.threads.latest_name.load(Acquire));
    names.for_each(|(_, entry)| entry.summed_in.store(OTHERS, Relaxed));
}

/// Changes the number of threads that are summed in the entry of a name.
pub(crate) fn add_threads(contexts: &Contexts, index: usize, more: i64) {
    if let Some(entry) = contexts.threads.all().get(index) {
        entry.threads.fetch_add(more.cast_unsigned(), Relaxed);
    }
}

/// Looks at the name of this thread.
pub(crate) fn see_name(contexts: &Contexts, index: usize) {
    if let Some(entry) = contexts.threads.all().get(index) {
        store_thread_name(&entry.name);
    }
}

/// Looks at the name of another thread. Not for code below mcount.
fn see_name_outside(entry: &ThreadEntry) {
    let name = name_of_thread(entry.number.load(Relaxed));
    if name != [0; 2] {
        entry.name.iter().zip(name).for_each(|(to, from)| to.store(from, Relaxed));
    }
}

/// Looks at the names of all threads that have not ended. Not for code below mcount.
pub(crate) fn see_names(contexts: &Contexts) {
    let threads = contexts.threads.threads.load(Relaxed);
    for (index, entry) in contexts.threads.all().iter().enumerate().take(threads) {
        // A later thread has the number of a thread that has ended.
        let latest = entries_of(contexts, entry.number.load(Relaxed)).next();
        if !entry.has_ended.load(Relaxed) && latest.is_some_and(|(latest, _)| latest == index) {
            see_name_outside(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> Contexts {
        let contexts = Contexts::new();
        contexts.threads.map();
        set_entry_index(None);
        contexts
    }

    fn words(name: u64) -> [AtomicU64; 2] {
        [AtomicU64::new(name), AtomicU64::new(0)]
    }

    #[test]
    fn a_thread_with_the_number_of_another_has_an_entry_of_its_own() {
        let contexts = list();
        let same_home = 100 + THREADS as i32;
        let made = [100, same_home, 100, 7].map(|number| claim(&contexts, number));
        assert_eq!(made, [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!([100, same_home, 7].map(|number| of_number(&contexts, number)), [Some(2), Some(1), Some(3)]);
        // An entry that was made from outside is the thread's, but only once.
        assert_eq!([of_number(&contexts, 8), of_number(&contexts, 8)], [Some(4); 2]);
        assert_eq!([claim(&contexts, 8), claim(&contexts, 8)], [Some(4), Some(5)]);
        assert_eq!([0, -1].map(|number| claim(&contexts, number)), [None; 2]);
    }

    #[test]
    fn this_thread_keeps_its_entry() {
        let contexts = list();
        assert_eq!([count(&contexts, 1), count(&contexts, 2)], [0; 2]);
        // The next thread with the same number does not know the entry.
        set_entry_index(None);
        assert_eq!(count(&contexts, 4), 1);
        let entries = contexts.threads.all();
        assert_eq!([0, 1].map(|index: usize| entries[index].ticks.load(Relaxed)), [3, 4]);
        assert_eq!([0, 1].map(|index: usize| entries[index].number.load(Relaxed)), [thread_id(); 2]);
        set_entry_index(None);
    }

    #[test]
    fn a_thread_is_counted_and_named_from_outside() {
        let contexts = list();
        assert_eq!([count_of(&contexts, 7, 1), count_of(&contexts, 8, 2), count_of(&contexts, 7, 4)], [0, 1, 0]);
        name(&contexts, 8, [5, 6]);
        let entries = contexts.threads.all();
        assert_eq!([0, 1].map(|index: usize| entries[index].ticks.load(Relaxed)), [5, 2]);
        assert_eq!(entries[1].name.each_ref().map(|word| word.load(Relaxed)), [5, 6]);
        // This thread is alive, so its name can be read.
        let index = count_of(&contexts, thread_id(), 1);
        assert!(entries[index].name[0].load(Relaxed) != 0);
        for number in 0..THREADS as i32 {
            claim(&contexts, 100_000 + number);
        }
        // Linux has no thread with this number or a higher one.
        assert_eq!(count_of(&contexts, 1 << 22, 3), OTHERS, "the thread has no name");
    }

    #[test]
    fn there_is_a_bound_of_names() {
        let contexts = list();
        let all: Vec<usize> = (1..=NAMES as u64 + 5).map(|name| of_name(&contexts, &words(name))).collect();
        assert!(all.iter().take(NAMES).eq((THREADS..OTHERS).collect::<Vec<_>>().iter()));
        assert!(all.iter().skip(NAMES).all(|index| *index == OTHERS));
        assert_eq!([of_name(&contexts, &words(9)), of_name(&contexts, &words(0))], [THREADS + 8, OTHERS]);
    }

    #[test]
    fn entries_that_are_made_at_once_have_different_names() {
        let contexts = list();
        let name = words(77);
        let mut inner = OTHERS;
        let outer = of_name_meanwhile(&contexts, &name, || inner = of_name(&contexts, &name));
        assert_eq!((outer, inner), (THREADS, THREADS));
        assert_eq!(contexts.threads.names.load(Relaxed), 1, "the other entry is free again");
        let name = words(66);
        of_name_meanwhile(&contexts, &name, || inner = of_name(&contexts, &name));
        assert_eq!((inner, contexts.threads.names.load(Relaxed)), (THREADS + 1, 2));
        // Another name in between changes the list too. The entry that lost stays unused if another entry was taken
        // after it.
        let (first, second) = (words(88), words(99));
        let mut made = [OTHERS; 2];
        let outer = of_name_meanwhile(&contexts, &first, || {
            made = [of_name(&contexts, &second), of_name(&contexts, &first)];
        });
        assert_eq!((outer, made), (THREADS + 3, [THREADS + 2, THREADS + 3]));
        let all = [&name, &first, &second].map(|name| of_name(&contexts, name));
        assert_eq!(all, [THREADS + 1, THREADS + 3, THREADS + 2]);
    }

    #[test]
    fn a_name_is_found_if_the_last_entry_was_taken_for_it_meanwhile() {
        let contexts = list();
        contexts.threads.names.store(NAMES - 1, Relaxed);
        let name = words(77);
        let mut inner = OTHERS;
        let outer = of_name_meanwhile(&contexts, &name, || inner = of_name(&contexts, &name));
        assert_eq!((outer, inner), (OTHERS - 1, OTHERS - 1));
    }

    #[test]
    fn a_thread_that_shares_thread_local_storage_has_an_entry_of_its_own() {
        let contexts = list();
        set_entry_index(None);
        let number = thread_id();
        // The entry of the thread that made this one.
        assert_eq!(add(&contexts, number + 1, false), Some(0));
        set_entry_index(Some(0));
        assert_eq!([own(&contexts), own(&contexts)], [Some(1); 2]);
        assert_eq!(contexts.threads.all()[1].number.load(Relaxed), number);
        set_entry_index(None);
    }

    #[test]
    fn only_threads_that_have_ended_are_summed() {
        let contexts = list();
        contexts.threads.threads.store(2, Relaxed);
        let all = contexts.threads.all();
        all.iter().take(2).for_each(|entry| entry.name[0].store(77, Relaxed));
        all[1].has_ended.store(true, Relaxed);
        sum_ended(&contexts);
        assert_eq!([0, 1].map(|index| target(&contexts, index)), [0, THREADS]);
    }

    #[test]
    fn names_are_looked_at_for_the_latest_thread_of_a_number() {
        let contexts = list();
        let number = thread_id();
        // Two earlier threads with the same number, one of which was not seen to end, and one that has ended.
        let entries = [number, number, number + 1].map(|number| add(&contexts, number, false).unwrap());
        let all = contexts.threads.all();
        all[entries[2]].number.store(number, Relaxed);
        all[entries[2]].has_ended.store(true, Relaxed);
        see_names(&contexts);
        let has_name = entries.map(|entry| all[entry].name[0].load(Relaxed) != 0);
        assert_eq!(has_name, [false, true, false]);
    }
}
