//! The kernel's counters, 16 bits each, and what has been read of them.
//!
//! The kernel raises a counter by a read, an addition and a write on behalf of the thread that was interrupted, and never looks
//! whether the counter runs over: at 8128 ticks a second that happens after 8 seconds in one place. So the counters are read
//! before they can have gone round, and what was added since the last reading is added to bins of 32 bits.
//!
//! Nobody but the kernel writes the counters. To set them to zero, even in one of two buffers that take turns, could fall
//! between the kernel's read and its write, and a whole counter would be counted twice. What was read last is kept beside
//! them instead, and the difference counts. Two threads that are interrupted in one place at one time can make the kernel
//! write a smaller number than before; so the largest differences are steps backwards, and count nothing.

use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU16, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use crate::os::{Errno, block_signals, count_samples, give_way, map, set_blocked_signals};
use crate::samples::bins;

/// What the kernel counts in; null before that begins. The memory is never freed.
static COUNTERS: AtomicPtr<AtomicU16> = AtomicPtr::new(ptr::null_mut());
/// What was read there last.
static SEEN: AtomicPtr<AtomicU16> = AtomicPtr::new(ptr::null_mut());
/// How many counters there are.
static NUMBER: AtomicUsize = AtomicUsize::new(0);
/// Set while a thread reads them.
static IS_READING: AtomicBool = AtomicBool::new(false);

/// Counters that are looked at as one word: four.
const IN_WORD: usize = size_of::<u64>() / size_of::<u16>();

/// Has the kernel count.
pub(super) fn start() -> Result<(), Errno> {
    let area = bins::area();
    if COUNTERS.load(SeqCst).is_null() {
        let size = area.size.next_multiple_of(size_of::<u64>());
        let (counters, seen) = (map(size), map(size));
        if counters.is_null() || seen.is_null() {
            return Err(Errno::ENOMEM);
        }
        SEEN.store(seen.cast(), SeqCst);
        NUMBER.store(size / size_of::<u16>(), SeqCst);
        COUNTERS.store(counters.cast(), SeqCst);
    }
    let counters = COUNTERS.load(SeqCst).expose_provenance();
    // SAFETY: so many bytes of counters, which stay mapped.
    unsafe { count_samples(counters, area.size, area.offset, area.scale) }
}

/// Lets the kernel count no more.
pub(super) fn stop() {
    // SAFETY: nothing is counted. It cannot fail.
    let _ = unsafe { count_samples(0, 0, 0, 0) };
    // Ticks of the time since they were collected.
    collect();
}

/// Reads the counters and counts what was added.
pub(super) fn collect() {
    read(bins::count_in);
}

/// Reads the counters and forgets what was added.
pub(super) fn discard() {
    read(|_, _| {});
}

/// Forgets in the child of a fork what was added: that is the parent's. Another thread may have been reading.
pub(super) fn forget() {
    IS_READING.store(false, SeqCst);
    discard();
}

/// Hands over what was added to each counter since the last reading. One thread at a time; no signal comes in meanwhile, whose handler
/// might wait for this thread.
fn read(each: impl Fn(usize, u16)) {
    let counters = COUNTERS.load(SeqCst);
    if counters.is_null() {
        return;
    }
    let blocked = block_signals();
    while IS_READING.compare_exchange(false, true, Acquire, Relaxed).is_err() {
        give_way();
    }
    let (seen, number) = (SEEN.load(SeqCst), NUMBER.load(SeqCst));
    for word in 0..number / IN_WORD {
        let first = word * IN_WORD;
        // SAFETY: both have that many counters, in whole words, at the beginning of a page.
        let (now, before) =
            unsafe { (&*counters.add(first).cast::<AtomicU64>(), &*seen.add(first).cast::<AtomicU64>()) };
        if now.load(Relaxed) == before.load(Relaxed) {
            continue;
        }
        for bin in first..first + IN_WORD {
            // SAFETY: as above.
            let (now, before) = unsafe { ((*counters.add(bin)).load(Relaxed), &*seen.add(bin)) };
            let added = now.wrapping_sub(before.swap(now, Relaxed));
            if added != 0 && added < MOST {
                each(bin, added);
            }
        }
    }
    IS_READING.store(false, Release);
    set_blocked_signals(blocked);
}

/// So many ticks and more are a step backwards: of up to a second, which a thread may wait for a processor between the kernel's
/// read and its write.
pub(super) const MOST: u16 = 7 << 13;
