//! The kernel's 16-bit counters and their values at the last reading.
//!
//! Only the kernel writes the counters. The kernel increments a counter by a read, an addition and a write on behalf of
//! the interrupted thread, and does not check for overflow. If two threads are interrupted in the same place at the
//! same time, the kernel can write a smaller value than before; the largest differences are therefore decrements, and
//! [`read`] ignores them.

use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU16, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use crate::os::{block_signals, set_blocked_signals};
use crate::state::Inherited;

/// The kernel's counters; null before [`watch`]. The memory is never freed.
static COUNTERS: Inherited<AtomicPtr<AtomicU16>> =
    Inherited::new("the child forgets what was counted, in the same memory", AtomicPtr::new(ptr::null_mut()));
/// The last value of each counter.
static SEEN: Inherited<AtomicPtr<AtomicU16>> =
    Inherited::new("the child forgets what was counted, in the same memory", AtomicPtr::new(ptr::null_mut()));
/// The number of counters.
static NUMBER: Inherited<AtomicUsize> =
    Inherited::new("the child forgets what was counted, in the same memory", AtomicUsize::new(0));
/// Set while a thread reads the counters.
static IS_READING: Inherited<AtomicBool> =
    Inherited::new("the child forgets what was counted, in the same memory", AtomicBool::new(false));

/// The number of counters in a 64-bit word. [`read`] compares whole words.
const IN_WORD: usize = size_of::<u64>() / size_of::<u16>();

/// Sets the counters, `bytes` bytes of whole 64-bit words, and the memory for their last values, all zero.
///
/// # Safety
///
/// Both addresses must be aligned to 8 bytes, and the memory must have that size and never be freed.
pub(super) unsafe fn watch(counters: *mut AtomicU16, seen: *mut AtomicU16, bytes: usize) {
    SEEN.store(seen, SeqCst);
    NUMBER.store(bytes / size_of::<u16>(), SeqCst);
    COUNTERS.store(counters, SeqCst);
}

/// The kernel's counters; null before [`watch`].
pub(super) fn counters() -> *mut AtomicU16 {
    COUNTERS.load(SeqCst)
}

/// The memory for the last values, and its size in bytes.
#[allow(dead_code, reason = "on FreeBSD the child of a fork keeps the values")]
pub(super) fn seen() -> (*mut AtomicU16, usize) {
    (SEEN.load(SeqCst), NUMBER.load(SeqCst) * size_of::<u16>())
}

/// Allows readings in the child of a `fork`: another thread of the parent may have been reading.
pub(super) fn allow_reading() {
    IS_READING.store(false, SeqCst);
}

/// Calls `each` with the index, the last value and the difference of each counter that changed since the last reading.
/// Differences from `most` on are decrements. Only one thread reads at a time; `wait` is called as long as another
/// thread reads, and returns whether to try again. Signals are blocked, because a handler that also reads would wait
/// for this thread forever.
pub(super) fn read(most: u16, wait: impl Fn() -> bool, mut each: impl FnMut(usize, u16, u16)) {
    let counters = counters();
    if counters.is_null() {
        return;
    }
    let blocked = block_signals();
    let mut is_ours = try_to_take();
    while !is_ours && wait() {
        is_ours = try_to_take();
    }
    if is_ours {
        read_all(counters, |bin, before, added| {
            if added < most {
                each(bin, before, added);
            }
        });
        IS_READING.store(false, Release);
    }
    set_blocked_signals(blocked);
}

/// Makes this thread the reader, unless another thread reads.
fn try_to_take() -> bool {
    IS_READING.compare_exchange(false, true, Acquire, Relaxed).is_ok()
}

/// Calls `each` for all counters that changed, and keeps their new values.
fn read_all(counters: *mut AtomicU16, mut each: impl FnMut(usize, u16, u16)) {
    let (seen, number) = (SEEN.load(SeqCst), NUMBER.load(SeqCst));
    for word in 0..number / IN_WORD {
        let first = word * IN_WORD;
        // SAFETY: by the promise to `watch`, both arrays have `number` counters, a multiple of whole words, and are
        // aligned.
        let (now, before) =
            unsafe { (&*counters.add(first).cast::<AtomicU64>(), &*seen.add(first).cast::<AtomicU64>()) };
        if now.load(Relaxed) == before.load(Relaxed) {
            continue;
        }
        for bin in first..first + IN_WORD {
            // SAFETY: `bin` is below `number`, as above.
            let (now, before) = unsafe { ((*counters.add(bin)).load(Relaxed), &*seen.add(bin)) };
            let before = before.swap(now, Relaxed);
            if now != before {
                each(bin, before, now.wrapping_sub(before));
            }
        }
    }
}
