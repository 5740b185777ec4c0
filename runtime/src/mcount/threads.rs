//! Every thread's tables, and the slow path of mcount.
//!
//! A thread that calls its first profiled function gets a [`Thread`]: one that a thread which is gone has left, with its
//! tables and their counts, or a new one. They are never freed, so that what a thread counted outlives it, and so that
//! no moment of the program's end is too late for a call.

use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::table::{self, Counted, GENERATIONS, Table};
use crate::arch;
use crate::file;
use crate::kernel::{self, Clock};
use crate::os::{
    SavedSignals, UNKNOWN_THREAD, block_signals, clear, enter_thread, replace, set_blocked_signals, take_reserved,
    thread_id, thread_is_gone, unmap,
};
use crate::ownership;

/// How many records a new thread looks at for one whose thread is gone. A bound, so that a thread's start does not cost
/// more the more threads there are; and with it, fewer than half of the records are idle for long.
const ADOPTION_TRIES: usize = 4;

/// What is known of a thread. All zero, it has no tables and no owner.
#[repr(C)]
struct Thread {
    /// First: what handles the timers' signal finds the clock at the start of the record.
    clock: Clock,
    /// The one registered before; null at the first ever.
    next: AtomicPtr<Thread>,
    /// The kernel's number of the thread whose record this is, 0 for nobody's; and above it how often the record changed
    /// hands, so that one who looked at it before can tell, though the kernel gave its number out again.
    owner: AtomicU64,
    /// The signals that it had blocked before it began to fork.
    blocked: SavedSignals,
    /// Whether it is closing an object.
    is_closing: AtomicBool,
    /// Which of the tables is in use: the last that has entries.
    newest: AtomicUsize,
    /// Set while the thread changes that: where signals cannot be blocked, a handler leaves it alone.
    changing: AtomicBool,
    /// How many calls found no room since there was no memory for a larger table.
    refused: AtomicU32,
    tables: [Table; GENERATIONS],
}

const _: () = assert!(offset_of!(Thread, clock) == 0, "a handler reads the clock there");

/// The record registered last.
static THREADS: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());
/// Where the next search for an idle record begins.
static CURSOR: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());
/// Calls that could not be counted, because there was no memory.
static LOST: AtomicU64 = AtomicU64::new(0);

/// How many calls that find no room it takes until memory is asked for again.
const CALLS_TO_ASK_AGAIN: u32 = 4096;

/// Those of children of a vfork in threads that have no record.
static LOST_IN_CHILDREN: AtomicU64 = AtomicU64::new(0);

/// Counts a call that mcount did not find in its table: the slow path.
///
/// Runs between any two instructions of the program, in signal handlers too. Uses no vector register, which a test of the
/// object proves. What changes more than an entry is done with signals blocked: nothing comes in between. Where a filter of system calls
/// does not let them be blocked, a handler that comes in between finds that said, and counts in the table that is there.
pub(crate) unsafe extern "C" fn miss(frompc: usize, selfpc: usize) {
    let Some(thread) = enter() else {
        let lost = if ownership::is_ours() { &LOST } else { &LOST_IN_CHILDREN };
        lost.fetch_add(1, Relaxed);
        return;
    };
    if thread.count(frompc, selfpc) == Counted::Yes {
        return;
    }
    // A copy of the process leaves no profile: its tables need not grow.
    if ownership::is_copy() || !thread.may_grow() || thread.changing.swap(true, SeqCst) {
        thread.count_somewhere(frompc, selfpc);
        return;
    }
    let blocked = block_signals();
    while thread.count(frompc, selfpc) == Counted::Full {
        if !thread.grow() {
            thread.refused.store(1, Relaxed);
            thread.count_somewhere(frompc, selfpc);
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

    /// Counts in the table that is there, or as lost.
    fn count_somewhere(&self, frompc: usize, selfpc: usize) {
        if self.newest_table().is_none_or(|table| table.count_anywhere(frompc, selfpc) == Counted::Full) {
            LOST.fetch_add(1, Relaxed);
        }
    }

    /// Whether to ask for a larger table: seldom once there was no memory for one, as that takes system calls.
    fn may_grow(&self) -> bool {
        match self.refused.load(Relaxed) {
            0 => true,
            calls => self.refused.fetch_add(1, Relaxed) == calls && calls % CALLS_TO_ASK_AGAIN == 0,
        }
    }

    fn newest_table(&self) -> Option<&Table> {
        self.tables.get(self.newest.load(SeqCst))
    }

    /// Gives the next table its entries; false if there is no memory.
    fn grow(&self) -> bool {
        let generation = match self.newest_table() {
            Some(table) if !table.memory().0.is_null() => self.newest.load(SeqCst) + 1,
            _ => 0,
        };
        let Some(table) = self.tables.get(generation) else { return false };
        let size = table::size(generation, file::arcs_grain());
        let memory = file::map_arcs(size);
        if memory.is_null() {
            return false;
        }
        // SAFETY: fresh memory of that size.
        unsafe { table.furnish(memory, size) };
        self.newest.store(generation, SeqCst);
        true
    }

    /// Makes the newest table the one that mcount uses.
    fn use_newest(&self) {
        if let Some(table) = self.newest_table() {
            let (entries, _) = table.memory();
            // SAFETY: the newest table has entries, which stay mapped.
            unsafe { arch::set_table(entries, table.mask()) };
        }
    }
}

/// Gives this thread its record if it has none, and with it a timer; false when there is no memory.
pub(crate) fn enter_this_thread() -> bool {
    enter().is_some()
}

/// This thread's record; `None` when there is no memory for one, and in the child of a vfork, which is not the process
/// that we are in: to it all our threads seem to be gone.
fn enter() -> Option<&'static Thread> {
    if let Some(thread) = known() {
        return Some(thread);
    }
    if !ownership::is_ours() {
        return None;
    }
    let blocked = block_signals();
    // A signal handler may have been here just before.
    let thread = known().or_else(make_known);
    set_blocked_signals(kernel::to_be_blocked(blocked));
    thread
}

/// Gives this thread a record. A handler that comes in between, where signals cannot be blocked, may be quicker.
fn make_known() -> Option<&'static Thread> {
    let id = thread_id();
    let thread = adopt(id).or_else(|| register(id))?;
    thread.changing.store(true, SeqCst);
    enter_thread();
    if !arch::publish_record(ptr::from_ref(thread).cast_mut().cast()) {
        thread.changing.store(false, SeqCst);
        thread.owner.store(0, SeqCst);
        return known();
    }
    thread.use_newest();
    thread.changing.store(false, SeqCst);
    thread.clock.attach(id);
    Some(thread)
}

/// This thread's record, if it has one.
fn known() -> Option<&'static Thread> {
    let known: *const Thread = arch::record().cast();
    // SAFETY: null or what `enter` stored; records are never freed.
    unsafe { known.as_ref() }
}

/// Finds a record whose thread is gone and makes it this thread's.
fn adopt(id: i32) -> Option<&'static Thread> {
    let mut at = CURSOR.load(Relaxed);
    for _ in 0..ADOPTION_TRIES {
        if at.is_null() {
            at = THREADS.load(SeqCst);
        }
        // SAFETY: null, while there is no record at all, or a record; they are never freed.
        let thread = unsafe { at.as_ref() }?;
        at = thread.next.load(Relaxed);
        CURSOR.store(at, Relaxed);
        let before = thread.owner.load(Relaxed);
        let owner = before as i32;
        let mine = (before & !u64::from(u32::MAX)).wrapping_add(1 << 32) | u64::from(id as u32);
        // The kernel has given this thread the number of one that is gone, or that one is gone without an heir.
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
        // SAFETY: mapped just now, and nobody else knows of it.
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
    // SAFETY: null at the end, else a record; they are never freed.
    while let Some(thread) = unsafe { at.as_ref() } {
        each(thread);
        at = thread.next.load(Relaxed);
    }
}

/// Keeps signals away from this thread while it forks: they would start a large process's fork over and over again, and
/// what they do in between would be counted by the child as well.
pub(crate) fn before_fork() {
    if let Some(thread) = enter() {
        thread.blocked.save(block_signals());
    }
}

/// Undoes [`before_fork`].
pub(crate) fn after_fork_in_parent() {
    if let Some(thread) = known() {
        set_blocked_signals(thread.blocked.saved());
    }
}

/// Makes the child of a fork begin at zero: of its parent's threads it has only this one, and no timers. Tables that are
/// `shared` with the parent's file become the child's own, at the same addresses: a signal handler may have forked, and
/// what it interrupted may be counting. False if there is no memory for that.
pub(crate) fn after_fork_in_child(shared: bool) -> bool {
    let mut whole = true;
    for_each_thread(|thread| {
        thread.owner.store(0, Relaxed);
        thread.is_closing.fetch_and(ptr::eq(thread, arch::record().cast()), Relaxed);
        thread.clock.reset();
        for table in &thread.tables {
            let (memory, size) = table.memory();
            if memory.is_null() {
                continue;
            }
            // SAFETY: the table's own memory, whole pages; of the threads that wrote it only this one is here.
            unsafe {
                if shared {
                    whole &= replace(memory, size);
                } else {
                    clear(memory, size);
                }
            }
            table.cleared();
        }
    });
    LOST.store(0, Relaxed);
    LOST_IN_CHILDREN.store(0, Relaxed);
    if let Some(thread) = known() {
        let id = thread_id();
        thread.owner.store(u64::from(id as u32), Relaxed);
        thread.clock.attach(id);
        set_blocked_signals(thread.blocked.saved());
    }
    whole
}

/// Lets the timers of all threads run, or not.
pub(crate) fn run_clocks(on: bool) {
    for_each_thread(|thread| thread.clock.run(on));
}

/// Counts the ticks that are due in any thread and that the kernel has not noticed yet, for the last time or not.
pub(crate) fn settle_clocks(is_last: bool) {
    for_each_thread(|thread| thread.clock.settle(is_last));
}

/// Hands every arc of every table to `each`, as (frompc, selfpc, count); one arc may come several times. Threads that
/// run meanwhile may be counting.
pub(crate) fn for_each_arc(mut each: impl FnMut(usize, usize, u64)) {
    for_each_thread(|thread| {
        for table in &thread.tables {
            table.for_each(&mut each);
        }
    });
}

/// Takes the counts of the arcs that `is_wanted`, by (frompc, selfpc), out of every table, and hands them to `each`, with
/// whether their thread is closing an object. Threads that run meanwhile may be counting.
pub(crate) fn take_arcs(is_wanted: impl Fn(usize, usize) -> bool, mut each: impl FnMut(usize, usize, u64, bool)) {
    for_each_thread(|thread| {
        let is_closing = thread.is_closing.load(SeqCst);
        for table in &thread.tables {
            table.take(&is_wanted, |frompc, selfpc, count| each(frompc, selfpc, count, is_closing));
        }
    });
}

/// The same with tables that are a part of the file, where nothing of that is to stay. Nobody may be calling along such an
/// arc.
pub(crate) fn empty_arcs(is_wanted: impl Fn(usize, usize) -> bool, mut each: impl FnMut(usize, usize, u64)) {
    for_each_thread(|thread| thread.tables.iter().for_each(|table| table.empty(&is_wanted, &mut each)));
}

/// Notes whether this thread is closing an object; the result is whether it was.
pub(crate) fn set_closing(is_closing: bool) -> bool {
    enter().is_some_and(|thread| thread.is_closing.swap(is_closing, SeqCst))
}

/// Whether any thread is closing an object.
pub(crate) fn is_any_closing() -> bool {
    let mut any = false;
    for_each_thread(|thread| any |= thread.is_closing.load(SeqCst));
    any
}

/// How many calls could not be counted.
pub(crate) fn lost() -> u64 {
    LOST.load(SeqCst)
}

/// How many calls of children of a vfork could not be counted.
pub(crate) fn lost_in_children() -> u64 {
    LOST_IN_CHILDREN.load(SeqCst)
}
