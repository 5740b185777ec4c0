//! Every thread's tables, and the slow path of mcount.
//!
//! A thread that calls its first profiled function gets a [`Thread`]: the record of a thread that has ended, with its
//! tables and their counts, or a new record. Records are never freed, so the counts outlive their thread, and calls
//! are counted until the very end of the program.

use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::ended::EndedCalls;
use super::entry_of_calls::EntryOfCalls;
use super::table::{self, Counted, GENERATIONS, Table};
use crate::arch;
use crate::closures::closure_trait;
use crate::file;
use crate::file::one_writer::{NOBODY, become_writer_soon, set_writer};
use crate::kernel::{self, Clock};
use crate::os::{
    SavedSignals, SignalSet, UNKNOWN_THREAD, block_signals, clear, enter_thread, replace, set_blocked_signals,
    take_reserved, thread_id, thread_is_gone, unmap,
};
use crate::ownership;
use crate::samples::contexts::{Contexts, by_thread};
use crate::state::{Inherited, Reset, resets};

closure_trait! {
    /// Gets arcs, with their threads.
    pub(crate) EachArc(frompc: usize, selfpc: usize, count: u64, counter: Counter)
}

closure_trait! {
    /// Says whether an arc is wanted.
    pub(crate) IsWantedArc(frompc: usize, selfpc: usize) -> bool
}

/// The number of records in which a new thread looks for the record of an ended thread. The bound keeps the cost of a
/// thread's start independent of the number of threads, and fewer than half of the records stay idle for long.
const RECORDS_TRIED: usize = 4;

/// The record of a thread. A record of zeros has no tables and no owner.
#[repr(C)]
struct Thread {
    /// The first field: the handler of the timers' signal finds the clock at the start of the record.
    clock: Clock,
    /// The record that was registered before this one; null for the first record.
    next: AtomicPtr<Thread>,
    /// The kernel's number of the thread that owns the record, 0 for none; in the upper half, the number of times
    /// that the owner changed, which shows a change even if the kernel reuses the thread number.
    owner: AtomicU64,
    /// The signals that the thread had blocked before the fork.
    blocked: SavedSignals,
    /// Whether the thread is closing an object.
    is_closing: AtomicBool,
    /// The index of the table in use, which is the last table with entries.
    newest: AtomicUsize,
    /// Set while the thread changes its tables: if signals cannot be blocked, a handler then leaves the tables alone.
    changing: AtomicBool,
    /// The number of calls that found no room since there was no memory for a larger table.
    refused: AtomicU32,
    /// The entry of the thread in the list of threads, if threads are told apart.
    entry: EntryOfCalls,
    tables: [Table; GENERATIONS],
}

const _: () = assert!(offset_of!(Thread, clock) == 0, "a handler reads the clock there");

/// The record that was registered last.
static THREADS: Inherited<AtomicPtr<Thread>> =
    Inherited::new("the child has the same records, which are cleared", AtomicPtr::new(ptr::null_mut()));
/// Where the next search for an idle record begins.
static CURSOR: Inherited<AtomicPtr<Thread>> =
    Inherited::new("the child has the same records", AtomicPtr::new(ptr::null_mut()));

resets! {
    /// The calls that were lost for lack of memory.
    static LOST: Reset<AtomicU64> = Reset::new();
    /// The calls that were lost in vfork children, in threads without a record.
    static LOST_IN_CHILDREN: Reset<AtomicU64> = Reset::new();
    /// The calls of threads that have ended, if threads are told apart.
    static ENDED: Reset<EndedCalls> = Reset::new();
}

/// After this many calls without room, the thread asks for memory again.
const CALLS_TO_ASK_AGAIN: u32 = 4096;

/// The slow path of mcount: counts a call that mcount did not find in the thread's table.
///
/// Runs between any two instructions of the program, and in signal handlers. Uses no vector register, which a test of
/// the object proves. All changes beyond a single entry are made with signals blocked. If a seccomp filter prevents
/// blocking signals, a handler that comes in between sees the flag `changing`, and counts in the current table.
pub(crate) unsafe extern "C" fn miss(frompc: usize, selfpc: usize) {
    let Some(thread) = record_or_new() else {
        let lost = if ownership::is_ours() { &LOST } else { &LOST_IN_CHILDREN };
        lost.fetch_add(1, Relaxed);
        return;
    };
    // A thread may get its name after its first call. Each new arc is an occasion to see the name.
    if let Some(contexts) = by_thread().filter(|_| ownership::is_ours()) {
        thread.entry.see_name(contexts);
    }
    if thread.count(frompc, selfpc) == Counted::Yes {
        return;
    }
    // A copy of the process leaves no profile, so its tables need not grow.
    if ownership::is_copy() || !thread.may_grow() || thread.changing.swap(true, SeqCst) {
        thread.count_without_growing(frompc, selfpc);
        return;
    }
    let blocked = block_signals();
    while thread.count(frompc, selfpc) == Counted::Full {
        if !thread.grow() {
            thread.refused.store(1, Relaxed);
            thread.count_without_growing(frompc, selfpc);
            break;
        }
        thread.refused.store(0, Relaxed);
        thread.use_newest();
    }
    thread.changing.store(false, SeqCst);
    set_blocked_signals(blocked);
}

impl Thread {
    fn count(&self, frompc: usize, selfpc: usize) -> Counted {
        self.newest_table().map_or(Counted::Full, |table| table.count(frompc, selfpc))
    }

    /// Counts in the current table, or counts the call as lost.
    fn count_without_growing(&self, frompc: usize, selfpc: usize) {
        if self.newest_table().is_none_or(|table| table.count_anywhere(frompc, selfpc) == Counted::Full) {
            LOST.fetch_add(1, Relaxed);
        }
    }

    /// Whether to ask for a larger table. After a failure this is rare, because each request takes system calls.
    fn may_grow(&self) -> bool {
        match self.refused.load(Relaxed) {
            0 => true,
            calls => self.refused.fetch_add(1, Relaxed) == calls && calls % CALLS_TO_ASK_AGAIN == 0,
        }
    }

    fn newest_table(&self) -> Option<&Table> {
        self.tables.get(self.newest.load(SeqCst))
    }

    /// Allocates the next table; false if there is no memory.
    fn grow(&self) -> bool {
        let generation = match self.newest_table() {
            Some(table) if !table.memory().0.is_null() => self.newest.load(SeqCst) + 1,
            _ => 0,
        };
        let Some(table) = self.tables.get(generation) else { return false };
        let size = table::size(generation, kernel::arcs_grain());
        let memory = kernel::map_arcs(size);
        if memory.is_null() {
            return false;
        }
        // SAFETY: fresh memory of that size.
        unsafe { table.set_memory(memory, size) };
        self.newest.store(generation, SeqCst);
        true
    }

    /// Moves the calls of the tables to those of ended threads; false if there is no memory. The thread has ended, and
    /// this thread is the writer.
    fn move_calls(&self, contexts: &Contexts) -> bool {
        let thread = self.entry.index();
        let arcs = self.tables.iter().fold(0, |arcs, table| arcs + table.used());
        let add = |frompc, selfpc, count| ENDED.add(thread, frompc, selfpc, count);
        if !ENDED.reserve(contexts, arcs) {
            return false;
        }
        for table in &self.tables {
            // The tables of a live profile are a part of the file.
            if !file::is_live() {
                table.drain(add);
            } else if !table.take_all(add) {
                return false;
            }
        }
        self.entry.end(contexts);
        true
    }

    /// Who counts in the tables.
    fn counter(&self) -> Counter {
        Counter { thread: self.entry.index(), is_closing: self.is_closing.load(SeqCst) }
    }

    /// Makes mcount use the newest table.
    fn use_newest(&self) {
        if let Some(table) = self.newest_table() {
            let (entries, _) = table.memory();
            // SAFETY: the newest table has entries, which stay mapped.
            unsafe { arch::set_table(entries, table.mask()) };
        }
    }
}

/// Gives this thread, which will block the signals `blocked`, a record and a timer if it has no record; false if there
/// is no memory. Signals must be blocked.
pub(crate) fn enter_this_thread(blocked: SignalSet) -> bool {
    record().or_else(|| make_record(blocked)).is_some()
}

/// Gives this thread, which has just begun, a record and a timer.
#[allow(dead_code, reason = "only a runtime in a shared object hears of new threads")]
pub(crate) fn enter_new_thread() {
    let _ = record_or_new();
}

/// This thread's record; `None` if there is no memory for a record, and in the child of a vfork without a record: to
/// the child, all threads of its parent seem to be gone.
fn record_or_new() -> Option<&'static Thread> {
    if let Some(thread) = record() {
        return Some(thread);
    }
    if !ownership::is_ours() {
        return None;
    }
    let blocked = block_signals();
    // A signal handler may have made the record in between.
    let thread = record().or_else(|| make_record(kernel::to_be_blocked(blocked)));
    set_blocked_signals(kernel::to_be_blocked(blocked));
    thread
}

/// Gives this thread, which will block the signals `blocked`, a record. If signals cannot be blocked, a handler may do
/// so first; then the handler's record is used.
fn make_record(blocked: SignalSet) -> Option<&'static Thread> {
    let id = thread_id();
    let thread = reuse_record(id).or_else(|| register(id))?;
    thread.changing.store(true, SeqCst);
    enter_thread();
    if !arch::publish_record(ptr::from_ref(thread).cast_mut().cast()) {
        thread.changing.store(false, SeqCst);
        thread.owner.store(0, SeqCst);
        return record();
    }
    if let Some(contexts) = by_thread() {
        thread.entry.begin(contexts);
    }
    thread.use_newest();
    thread.changing.store(false, SeqCst);
    thread.clock.attach(id, blocked);
    Some(thread)
}

/// This thread's record, if it has one.
fn record() -> Option<&'static Thread> {
    let known: *const Thread = arch::record().cast();
    // SAFETY: null, or a record that `make_record` published; records are never freed.
    unsafe { known.as_ref() }
}

/// Finds a record whose thread has ended and makes this thread its owner. If threads are told apart, the calls of the
/// ended thread move to the calls of all ended threads; if that is not possible now, no record is used again.
fn reuse_record(id: i32) -> Option<&'static Thread> {
    let Some(contexts) = by_thread() else { return ended_record(id) };
    if become_writer_soon() != Some(true) {
        return None;
    }
    let thread = ended_record(id).filter(|thread| {
        let is_empty = thread.move_calls(contexts);
        if !is_empty {
            thread.owner.store(0, SeqCst);
        }
        is_empty
    });
    set_writer(NOBODY);
    thread
}

/// Finds a record whose thread has ended and makes this thread its owner.
fn ended_record(id: i32) -> Option<&'static Thread> {
    let mut at = CURSOR.load(Relaxed);
    for _ in 0..RECORDS_TRIED {
        if at.is_null() {
            at = THREADS.load(SeqCst);
        }
        // SAFETY: a record, or null if there is no record at all; records are never freed.
        let thread = unsafe { at.as_ref() }?;
        at = thread.next.load(Relaxed);
        CURSOR.store(at, Relaxed);
        let before = thread.owner.load(Relaxed);
        let owner = before as i32;
        let mine = (before & !u64::from(u32::MAX)).wrapping_add(1 << 32) | u64::from(id as u32);
        // The kernel has reused the number of an ended thread for this thread, or the owner has ended.
        if (owner == id && id != UNKNOWN_THREAD || owner == 0 || thread_is_gone(owner))
            && thread.owner.compare_exchange(before, mine, SeqCst, Relaxed).is_ok()
        {
            thread.is_closing.store(false, Relaxed);
            return Some(thread);
        }
    }
    None
}

/// Makes a new record with an empty first table.
fn register(id: i32) -> Option<&'static Thread> {
    let memory = take_reserved(size_of::<Thread>());
    if memory.is_null() {
        return None;
    }
    // SAFETY: fresh memory, all zero, which is a valid record; aligned to a page and never freed.
    let thread: &'static Thread = unsafe { &*memory.cast() };
    thread.clock.reset();
    thread.owner.store(u64::from(id as u32), Relaxed);
    if !thread.grow() {
        // SAFETY: mapped above, and nobody else knows the memory.
        unsafe { unmap(memory, size_of::<Thread>()) };
        return None;
    }
    let mut first = THREADS.load(SeqCst);
    loop {
        thread.next.store(first, Relaxed);
        match THREADS.compare_exchange_weak(first, memory.cast(), SeqCst, SeqCst) {
            Ok(_) => return Some(thread),
            Err(now) => first = now,
        }
    }
}

fn for_each_thread(mut each: impl FnMut(&Thread)) {
    let mut at = THREADS.load(SeqCst);
    // SAFETY: a record, or null at the end; records are never freed.
    while let Some(thread) = unsafe { at.as_ref() } {
        each(thread);
        at = thread.next.load(Relaxed);
    }
}

/// Blocks all signals in this thread during a fork. Signals would restart a large process's fork over and over, and
/// the child would count what their handlers do as well.
pub(crate) fn before_fork() {
    if let Some(thread) = record_or_new() {
        thread.blocked.save(block_signals());
    }
}

/// Undoes [`before_fork`].
pub(crate) fn after_fork_in_parent() {
    if let Some(thread) = record() {
        set_blocked_signals(thread.blocked.saved());
    }
}

/// Resets the child of a fork: the child has only this thread, and no timers. Tables that are `shared` with the
/// parent's file become the child's own, at the same addresses, because a signal handler may have forked while the
/// interrupted code was counting. False if there is no memory.
pub(crate) fn after_fork_in_child(shared: bool) -> bool {
    let mut whole = true;
    for_each_thread(|thread| {
        thread.owner.store(0, Relaxed);
        thread.is_closing.fetch_and(ptr::eq(thread, arch::record().cast()), Relaxed);
        thread.clock.reset();
        thread.entry.forget();
        for table in &thread.tables {
            let (memory, size) = table.memory();
            if memory.is_null() {
                continue;
            }
            // SAFETY: the table's own memory, whole pages; this is the only thread.
            unsafe {
                if shared {
                    whole &= replace(memory, size);
                } else {
                    clear(memory, size);
                }
            }
            table.mark_empty();
        }
    });
    arch::set_entry_index(None);
    if let Some(thread) = record() {
        let id = thread_id();
        thread.owner.store(u64::from(id as u32), Relaxed);
        if let Some(contexts) = by_thread() {
            thread.entry.begin(contexts);
        }
        thread.clock.attach(id, thread.blocked.saved());
        set_blocked_signals(thread.blocked.saved());
    }
    whole
}

/// Starts or stops the timers of all threads.
pub(crate) fn run_clocks(on: bool) {
    for_each_thread(|thread| thread.clock.run(on));
}

/// Counts the ticks of all threads that are due and that the kernel has not noticed yet. `is_last` says that no more
/// ticks come.
pub(crate) fn settle_clocks(is_last: bool) {
    for_each_thread(|thread| thread.clock.settle(is_last));
}

/// Who has made calls.
#[derive(Clone, Copy)]
pub(crate) struct Counter {
    /// The index of the thread's entry in the list of threads, if threads are told apart.
    pub(crate) thread: usize,
    /// Whether the thread is closing an object.
    pub(crate) is_closing: bool,
}

/// A thread that has ended.
fn ended(thread: usize) -> Counter {
    Counter { thread, is_closing: false }
}

/// Passes every table to `each`, with its thread.
fn for_each_table(mut each: impl FnMut(&Table, Counter)) {
    for_each_thread(|thread| {
        let counter = thread.counter();
        thread.tables.iter().for_each(|table| each(table, counter));
    });
}

/// Passes every arc to `each`, as (frompc, selfpc, count), with its thread; an arc may occur several times. Threads
/// that run at the same time may be counting. One copy of the code serves all callers.
#[inline(never)]
pub(crate) fn for_each_arc(each: &mut dyn EachArc) {
    for_each_table(|table, counter| {
        table.for_each(|frompc, selfpc, count| each.call(frompc, selfpc, count, counter));
    });
    if by_thread().is_some() {
        ENDED.for_each(|thread, frompc, selfpc, count| each.call(frompc, selfpc, count, ended(thread)));
    }
}

/// Takes the counts of arcs that `is_wanted`, by (frompc, selfpc), out of all tables, for `each`, with their thread.
/// Other threads may be counting. With `only_outside`, skips tables with only the program's own arcs.
pub(crate) fn take_arcs(only_outside: bool, is_wanted: &mut dyn IsWantedArc, each: &mut dyn EachArc) {
    for_each_table(|table, counter| {
        if only_outside && !table.leads_outside() {
            return;
        }
        table.take(
            |frompc, selfpc| is_wanted.call(frompc, selfpc),
            |frompc, selfpc, count| each.call(frompc, selfpc, count, counter),
        );
    });
    take_ended(is_wanted, each);
}

/// As [`take_arcs`], but sets counts to zero: for tables in the file, while nobody calls along these arcs.
pub(crate) fn empty_arcs(is_wanted: &mut dyn IsWantedArc, each: &mut dyn EachArc) {
    for_each_table(|table, counter| {
        table.empty(
            |frompc, selfpc| is_wanted.call(frompc, selfpc),
            |frompc, selfpc, count| each.call(frompc, selfpc, count, counter),
        );
    });
    take_ended(is_wanted, each);
}

/// Takes the counts of arcs that `is_wanted` from the calls of threads that have ended.
#[inline(never)]
fn take_ended(is_wanted: &mut dyn IsWantedArc, each: &mut dyn EachArc) {
    if by_thread().is_some() {
        ENDED.take(
            |frompc, selfpc| is_wanted.call(frompc, selfpc),
            |thread, frompc, selfpc, count| each.call(frompc, selfpc, count, ended(thread)),
        );
    }
}

/// Sets whether this thread is closing an object; the result is the previous value.
pub(crate) fn set_closing(is_closing: bool) -> bool {
    record_or_new().is_some_and(|thread| thread.is_closing.swap(is_closing, SeqCst))
}

/// Whether this thread is closing an object.
#[allow(dead_code, reason = "not all systems ask")]
pub(crate) fn is_closing() -> bool {
    record().is_some_and(|thread| thread.is_closing.load(SeqCst))
}

/// Whether any thread is closing an object.
pub(crate) fn is_any_closing() -> bool {
    let mut any = false;
    for_each_thread(|thread| any |= thread.is_closing.load(SeqCst));
    any
}

/// The number of calls that could not be counted.
pub(crate) fn lost() -> u64 {
    LOST.load(SeqCst)
}

/// The number of calls of vfork children that could not be counted.
pub(crate) fn lost_in_children() -> u64 {
    LOST_IN_CHILDREN.load(SeqCst)
}
