//! The threads of the samples and calls, and the calls of each thread.

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use gmon::encode::side_file::{Call, CallEncoder, ThreadItem, thread};
use gmon::layout::side_file::{CALLS, THREADS};

use super::counts::place;
use crate::file::writer::Writer;
use crate::memory::{Rows, ThreadRow};
use crate::samples::contexts::threads::{see_names, target};
use crate::samples::contexts::{CONTEXTS, Contexts, OTHERS, THREADS as OWN_ENTRIES, ThreadEntry, by_thread};
use crate::state::{Reset, resets};
use crate::text::Digits;

resets! {
    /// The calls of all threads by places. `control` collects the calls anew for each file.
    pub(crate) static CALLS_BY_THREAD: Reset<Rows<ThreadRow>> = Reset::new();
}

/// The name of the entry of all others, which is longer than a name of a thread can be.
const NAME_OF_OTHERS: &[u8] = b"(all other threads)";

/// Writes the threads with ticks or calls, and the calls of each, if threads are told apart.
pub(super) fn put(out: &mut Writer) {
    let Some(contexts) = by_thread() else { return };
    // SAFETY: `control` lets only one thread write files, and it collects these rows before.
    let rows = unsafe { CALLS_BY_THREAD.written() };
    see_names(contexts);
    add_up(contexts, rows);
    number(contexts);
    out.part(THREADS, |out| {
        for (index, entry) in contexts.threads.all().iter().enumerate().filter(|(_, entry)| is_listed(entry)) {
            put_thread(out, index, entry);
        }
    });
    put_calls(out, contexts, rows);
}

/// The index in the file of the thread with this index in memory. Only nodes that were added before [`put`] have one.
pub(super) fn index_in_file(index: usize) -> u64 {
    let contexts: &Contexts = &CONTEXTS;
    let entry = contexts.threads.all().get(target(contexts, index));
    u64::from(entry.map_or(0, |entry| entry.in_file.index.load(Relaxed)).saturating_sub(1))
}

/// Adds up the counts of all entries, each at the entry to which the counts belong.
fn add_up(contexts: &Contexts, rows: &[ThreadRow]) {
    let all = contexts.threads.all();
    let used = contexts.threads.threads.load(SeqCst);
    let is_used = |index: &usize| *index < used || *index >= OWN_ENTRIES;
    for entry in all {
        let in_file = &entry.in_file;
        in_file.index.store(0, Relaxed);
        [&in_file.threads, &in_file.ticks, &in_file.calls].iter().for_each(|sum| sum.store(0, Relaxed));
    }
    let add = |sum: &AtomicU64, more: u64| sum.store(sum.load(Relaxed).saturating_add(more), Relaxed);
    for (index, entry) in all.iter().enumerate().filter(|(index, _)| is_used(index)) {
        if let Some(of) = all.get(target(contexts, index)).map(|of| &of.in_file) {
            add(&of.threads, if index < OWN_ENTRIES { 1 } else { entry.threads.load(Relaxed) });
            add(&of.ticks, entry.ticks.load(Relaxed));
        }
    }
    for row in rows {
        if let Some(entry) = all.get(row.thread) {
            add(&entry.in_file.calls, row.calls.count);
        }
    }
}

/// Numbers the entries with counts in the order of the file.
fn number(contexts: &Contexts) {
    let has_counts =
        |entry: &&ThreadEntry| entry.in_file.ticks.load(Relaxed) > 0 || entry.in_file.calls.load(Relaxed) > 0;
    for (index, entry) in (1..).zip(contexts.threads.all().iter().filter(has_counts)) {
        entry.in_file.index.store(index, Relaxed);
    }
}

fn is_listed(entry: &ThreadEntry) -> bool {
    entry.in_file.index.load(Relaxed) > 0
}

fn put_thread(out: &mut Writer, index: usize, entry: &ThreadEntry) {
    let [first, second] = [0, 1].map(|word| entry.name.get(word).map_or(0, |word| word.load(Relaxed)).to_ne_bytes());
    let mut name = Digits::new();
    first.iter().chain(&second).take_while(|byte| **byte != 0).for_each(|byte| name.push(&[*byte]));
    let in_file = &entry.in_file;
    let item = ThreadItem {
        number: if index < OWN_ENTRIES { entry.number.load(Relaxed) as u64 } else { 0 },
        threads: in_file.threads.load(Relaxed),
        ticks: in_file.ticks.load(Relaxed),
        calls: in_file.calls.load(Relaxed),
        name: if index == OTHERS { NAME_OF_OTHERS } else { name.as_bytes() },
    };
    thread(out, &item);
}

/// Writes a part for the calls of each thread. The rows are sorted by thread.
fn put_calls(out: &mut Writer, contexts: &Contexts, rows: &[ThreadRow]) {
    let mut left = rows;
    while let Some(first) = left.first() {
        let number = left.partition_point(|row| row.thread == first.thread);
        let Some((group, rest)) = left.split_at_checked(number) else { return };
        left = rest;
        let entry = contexts.threads.all().get(first.thread);
        let Some(thread) = entry.and_then(|entry| entry.in_file.index.load(Relaxed).checked_sub(1)) else { continue };
        out.part(CALLS, |out| {
            let mut calls = CallEncoder::begin(out, Some(thread));
            for ThreadRow { calls: row, .. } in group {
                let call = Call { caller: place(row.second), callee: place(row.first), count: row.count };
                calls.put(out, &call);
            }
        });
    }
}
