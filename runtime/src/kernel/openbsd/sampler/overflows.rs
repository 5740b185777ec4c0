//! Finds counters that wrapped.
//!
//! The kernel's counters have 16 bits, and the kernel itself writes them in the file. A counter becomes 0 after 65,535,
//! and the kernel tells nobody. The runtime therefore looks at the counters when it is called anyway, and notices a
//! counter that became smaller. The wraps are kept as carries beside the bins, and the counter ends as 65,535 in the
//! file. A timer or a thread that looks more often would disturb the program: the only timer of CPU time is the
//! program's, and the kernel ends a process only when its last thread ends.
//!
//! If a counter passes its earlier value again before the next look, the wrap is invisible. Only the sum of all
//! counters, beside the CPU time of the process, shows how many samples are missing then.

use core::ffi::c_void;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use super::{differences, profrate};
use crate::message::say_count;
use crate::objects::program;
use crate::os::{clear, map, process_time};
use crate::samples::bins;
use crate::state::Inherited;

const SECOND: u64 = 1_000_000_000;
/// The values of a counter.
const ROUND: u64 = 1 << 16;
/// Differences from this value on are decrements: see [`differences`]. A decrement is at most 1024, about a second of
/// ticks.
const MOST: u16 = u16::MAX - 1023;

/// The CPU time of the process when sampling was last started, plus one; 0 while there is no sampling.
static STARTED: Inherited<AtomicU64> = Inherited::new("the child sets them to its own CPU time", AtomicU64::new(0));
/// The CPU time with sampling before, in nanoseconds.
static SAMPLED: Inherited<AtomicU64> = Inherited::new("the child sets them to its own CPU time", AtomicU64::new(0));
/// The CPU time of the process at the last look.
static LOOKED: Inherited<AtomicU64> = Inherited::new("the child sets them to its own CPU time", AtomicU64::new(0));

/// Notes that the kernel's sampling started. The first call takes the counters' addresses.
///
/// # Safety
///
/// `samples` must have `size` bytes, a multiple of 8, and be aligned to 8 bytes and never freed.
pub(super) unsafe fn start(samples: *mut c_void, size: usize) {
    if differences::counters().is_null() {
        let seen = map(size);
        if !seen.is_null() {
            bins::map_carries(size);
            // SAFETY: the caller's promise, and new memory that is never freed.
            unsafe { differences::watch(samples.cast(), seen.cast(), size) };
        }
    } else {
        look(|| false);
    }
    note(process_time().unwrap_or(0) + 1);
}

/// Notes that sampling stopped.
pub(super) fn stop() {
    note(0);
    look(|| false);
}

/// Adds up the CPU time since the last start, and sets the time of the new start.
fn note(started: u64) {
    let before = STARTED.swap(started, SeqCst);
    if before != 0 {
        let now = process_time().unwrap_or(0) + 1;
        SAMPLED.fetch_add(now.saturating_sub(before), Relaxed);
    }
}

/// Looks at the counters, and keeps a carry for each counter that wrapped. `wait` is called while another thread looks,
/// and returns whether to try again.
pub(crate) fn look(wait: impl Fn() -> bool) {
    LOOKED.store(process_time().unwrap_or(0), Relaxed);
    differences::read(MOST, wait, |bin, before, added| {
        if before.checked_add(added).is_none() {
            // SAFETY: carries were mapped for all counters.
            unsafe { bins::count_overflow(bin) };
        }
    });
}

/// Looks at the counters if a counter may have come an eighth of its way since the last look. Called below mcount.
pub(crate) fn look_if_due() {
    let eighth = ROUND / 8 * SECOND / u64::from(profrate().max(1));
    if STARTED.load(Relaxed) != 0
        && process_time().is_some_and(|now| now.saturating_sub(LOOKED.load(Relaxed)) >= eighth)
    {
        look(|| false);
    }
}

/// Reports how many samples the file cannot hold, and how many samples are missing although no counter seemed to wrap.
pub(super) fn report(profrate: u32) {
    let counters = differences::counters();
    if counters.is_null() {
        return;
    }
    let carries = bins::carries().unwrap_or(&[]);
    let (mut all, mut beyond) = (0, 0);
    for bin in 0..differences::seen().1 / size_of::<u16>() {
        // SAFETY: the counters have this size and are never freed.
        let low = unsafe { (*counters.add(bin)).load(Relaxed) };
        let count = carries.get(bin).map_or(0, |carry| u64::from(carry.load(Relaxed))) * ROUND + u64::from(low);
        all += count;
        beyond += count.saturating_sub(u64::from(u16::MAX));
    }
    say_count(b"", beyond, b" samples do not fit the file, where counters have 16 bits and end at 65,535");
    let since = STARTED.load(SeqCst);
    let running = if since == 0 { 0 } else { (process_time().unwrap_or(0) + 1).saturating_sub(since) };
    let due = u128::from(SAMPLED.load(Relaxed) + running) * u128::from(profrate) / u128::from(SECOND);
    let missing = (due as u64).saturating_sub(all);
    let (lowpc, highpc) = program::text();
    let covers_program = bins::covers(lowpc) && bins::covers(highpc.saturating_sub(1));
    // A counter that wrapped unseen has lost a whole round. Less is the ticks of code outside the program, or lateness,
    // which grows with the CPU time. If the profile covers a part of the program, the samples of the rest are missing
    // anyway.
    if covers_program && missing >= ROUND - ROUND / 64 && missing >= due as u64 / 32 {
        let why = b" samples are missing: the kernel's counters have 16 bits and became 0 after 65,535";
        say_count(b"", (missing + ROUND / 2) / ROUND * ROUND, why);
    }
}

/// Resets the child of a `fork`, which has used no CPU time, and whose counters are cleared.
pub(super) fn after_fork_in_child() {
    SAMPLED.store(0, Relaxed);
    LOOKED.store(0, Relaxed);
    let _ = STARTED.fetch_update(SeqCst, SeqCst, |started| (started != 0).then_some(1));
    differences::allow_reading();
    let (seen, size) = differences::seen();
    if !seen.is_null() {
        // SAFETY: the memory is one mapping, and the child has one thread, which relies on nothing there.
        unsafe { clear(seen.cast(), size) };
    }
}
