//! Every thread's tables, and the slow path of mcount.
//!
//! A thread that calls its first profiled function gets a [`Thread`]: one that a thread which is gone has left, with its
//! tables and their counts, or a new one. They are never freed, so that what a thread counted outlives it, and so that
//! no moment of the program's end is too late for a call.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicI32, AtomicPtr, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use crate::arch;
use crate::arcs::{self, Counted, Table};
use crate::kernel::Clock;
use crate::system::{map, thread_id, thread_is_gone};

/// Home slots of a thread's first table: with the thread's own record they fill one page.
const FIRST_SLOTS: usize = 128;

/// How many records a new thread looks at for one whose thread is gone. A bound, so that a thread's start does not cost
/// more the more threads there are; and with it, fewer than half of the records are idle for long.
const ADOPTION_TRIES: usize = 4;

/// What is known of a thread.
#[repr(C)]
struct Thread {
    /// The one registered before; null at the first ever.
    next: AtomicPtr<Thread>,
    /// The table that is in use, before all the others.
    newest: AtomicPtr<Table>,
    /// The kernel's number of the thread whose record this is.
    owner: AtomicI32,
    clock: Clock,
}

/// The record registered last.
static THREADS: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());
/// Where the next search for an idle record begins.
static CURSOR: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());
/// Calls that could not be counted, because there was no memory.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Counts a call that mcount did not find in its table: the slow path.
///
/// Runs between any two instructions of the program, in signal handlers too, and may itself be interrupted by one that
/// comes here again. Uses no vector register, which a test of the object proves.
pub(crate) unsafe extern "C" fn miss(frompc: usize, selfpc: usize) {
    let Some(thread) = enter() else {
        LOST.fetch_add(1, Relaxed);
        return;
    };
    loop {
        let table = thread.newest.load(SeqCst);
        // SAFETY: a record always has a table, and tables are never freed.
        let newest = unsafe { &*table };
        if newest.count(frompc, selfpc) == Counted::Yes {
            return;
        }
        let larger = newest.enlarged();
        if larger.is_null() {
            LOST.fetch_add(1, Relaxed);
            return;
        }
        if thread.newest.compare_exchange(table, larger, SeqCst, Relaxed).is_err() {
            // A signal handler has put one there meanwhile, which serves as well.
            // SAFETY: made just now, seen by nobody.
            unsafe { Table::discard(larger) };
        }
        use_newest(thread);
    }
}

/// Gives this thread its record if it has none, and with it a timer; false when there is no memory.
pub(crate) fn enter_this_thread() -> bool {
    enter().is_some()
}

fn enter() -> Option<&'static Thread> {
    let known: *const Thread = arch::record().cast();
    // SAFETY: null or what was stored below; records are never freed.
    if let Some(thread) = unsafe { known.as_ref() } {
        return Some(thread);
    }
    let id = thread_id();
    let thread = match adopt(id) {
        Some(thread) => thread,
        None => register(id)?,
    };
    arch::set_record(ptr::from_ref(thread).cast_mut().cast());
    use_newest(thread);
    thread.clock.attach();
    Some(thread)
}

/// Makes the thread's newest table the one that mcount uses.
fn use_newest(thread: &Thread) {
    loop {
        let table = thread.newest.load(SeqCst);
        // SAFETY: a record always has a table, and tables are never freed.
        unsafe { arch::set_table((*table).entries(), (*table).mask()) };
        // Between the two, a signal handler may have put a newer one there and made it the one in use.
        if thread.newest.load(SeqCst) == table {
            return;
        }
    }
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
        let owner = thread.owner.load(Relaxed);
        // The kernel has given this thread the number of one that is gone, or that one is gone without an heir.
        if (owner == id || thread_is_gone(owner)) && thread.owner.compare_exchange(owner, id, SeqCst, Relaxed).is_ok() {
            return Some(thread);
        }
    }
    None
}

/// Makes a new record with an empty first table.
fn register(id: i32) -> Option<&'static Thread> {
    const RECORD: usize = size_of::<Thread>();
    let memory: *mut c_void = map(RECORD + arcs::size(FIRST_SLOTS));
    if memory.is_null() {
        return None;
    }
    // SAFETY: fresh memory, all zero, which is a valid record without a table; page-aligned.
    let thread: &'static Thread = unsafe { &*memory.cast() };
    // SAFETY: the rest of that memory, which has the size of a first table; a record's size is a multiple of a word.
    let table = unsafe { Table::place(memory.byte_add(RECORD), FIRST_SLOTS, ptr::null()) };
    thread.clock.reset();
    thread.owner.store(id, Relaxed);
    thread.newest.store(table, SeqCst);
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

/// Lets the timers of all threads run, or not.
pub(crate) fn run_clocks(on: bool) {
    for_each_thread(|thread| thread.clock.run(on));
}

/// Hands every arc of every table to `each`, as (frompc, selfpc, count); one arc may come several times. Threads that
/// run meanwhile may be counting.
pub(crate) fn for_each_arc(mut each: impl FnMut(usize, usize, u64)) {
    for_each_thread(|thread| {
        let mut at = thread.newest.load(SeqCst).cast_const();
        // SAFETY: null at the end, else a table; they are never freed.
        while let Some(table) = unsafe { at.as_ref() } {
            table.for_each(&mut each);
            at = table.older();
        }
    });
}

/// How many calls could not be counted.
pub(crate) fn lost() -> u64 {
    LOST.load(SeqCst)
}
