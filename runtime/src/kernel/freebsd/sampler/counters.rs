//! The kernel's 16-bit counters and their last values.
//!
//! The kernel increments a counter by a read, an addition and a write on behalf of the interrupted thread, and does not check for
//! overflow: at 8128 ticks per second a counter wraps after 8 seconds in one place. gmon therefore reads the counters before a
//! counter can wrap, and adds the difference from the last value to a 32-bit bin.
//!
//! Only the kernel writes the counters. If gmon set a counter to zero between the kernel's read and write, even in one of two
//! buffers used in turns, the kernel would write the old value back, and the ticks would count twice. gmon therefore keeps the last
//! values in a second array and counts differences. If two threads are interrupted in the same place at the same time, the kernel
//! can write a smaller value than before; the largest differences are therefore decrements, and gmon ignores them.

use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU16, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use crate::os::{Errno, block_signals, count_samples, give_way, map, set_blocked_signals};
use crate::samples::bins;

/// The kernel's counters; null before the first start. The memory is never freed.
static COUNTERS: AtomicPtr<AtomicU16> = AtomicPtr::new(ptr::null_mut());
/// The last value of each counter.
static SEEN: AtomicPtr<AtomicU16> = AtomicPtr::new(ptr::null_mut());
/// The number of counters.
static NUMBER: AtomicUsize = AtomicUsize::new(0);
/// Set while a thread reads the counters.
static IS_READING: AtomicBool = AtomicBool::new(false);

/// The number of counters in a 64-bit word. [`read`] compares whole words.
const IN_WORD: usize = size_of::<u64>() / size_of::<u16>();

/// Starts the kernel's sampling.
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
    // SAFETY: `counters` has at least `area.size` bytes and is never unmapped.
    unsafe { count_samples(counters, area.size, area.offset, area.scale) }
}

/// Stops the kernel's sampling.
pub(super) fn stop() {
    // SAFETY: a scale of 0 stops sampling; the kernel then uses no memory. The call cannot fail.
    let _ = unsafe { count_samples(0, 0, 0, 0) };
    // Ticks may have come since the last reading.
    collect();
}

/// Reads the counters and adds the differences to the bins.
pub(super) fn collect() {
    read(bins::count_in);
}

/// Reads the counters and discards the differences.
pub(super) fn discard() {
    read(|_, _| {});
}

/// Discards the differences in the child of a `fork`, because the ticks belong to the parent. Clears [`IS_READING`] first: another
/// thread of the parent may have been reading.
pub(super) fn forget() {
    IS_READING.store(false, SeqCst);
    discard();
}

/// Calls `each` with the index and the difference of each counter that changed since the last reading. Only one thread reads at a
/// time. Signals are blocked, because a handler that also reads would wait for this thread forever.
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
        // SAFETY: both arrays have `number` counters, a multiple of whole words, and start at a page boundary.
        let (now, before) =
            unsafe { (&*counters.add(first).cast::<AtomicU64>(), &*seen.add(first).cast::<AtomicU64>()) };
        if now.load(Relaxed) == before.load(Relaxed) {
            continue;
        }
        for bin in first..first + IN_WORD {
            // SAFETY: `bin` is below `number`, as above.
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

/// Differences from this value on are decrements. A decrement is at most 8192, about a second of ticks: a thread may wait that long for
/// a processor between the kernel's read and write.
pub(super) const MOST: u16 = 7 << 13;
