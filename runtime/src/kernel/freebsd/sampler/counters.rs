//! The kernel's 16-bit counters and their last values.
//!
//! The kernel increments a counter by a read, an addition and a write on behalf of the interrupted thread, and does not check for
//! overflow: at 8128 ticks per second a counter wraps after 8 seconds in one place. gmon therefore reads the counters before a
//! counter can wrap, and adds the difference from the last value to a 32-bit bin: see [`differences`].

use super::differences;
use crate::os::{Errno, count_samples, give_way, map};
use crate::samples::bins;

/// Starts the kernel's sampling.
pub(super) fn start() -> Result<(), Errno> {
    let area = bins::area();
    if differences::counters().is_null() {
        let size = area.size.next_multiple_of(size_of::<u64>());
        let (counters, seen) = (map(size), map(size));
        if counters.is_null() || seen.is_null() {
            return Err(Errno::ENOMEM);
        }
        // SAFETY: new memory of whole pages that is never freed.
        unsafe { differences::watch(counters.cast(), seen.cast(), size) };
    }
    let counters = differences::counters().expose_provenance();
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

/// Discards the differences in the child of a `fork`, because the ticks belong to the parent.
pub(super) fn forget() {
    differences::allow_reading();
    discard();
}

/// Calls `each` with the index and the difference of each counter that changed since the last reading.
fn read(each: impl Fn(usize, u16)) {
    let wait = || {
        give_way();
        true
    };
    differences::read(MOST, wait, |bin, _, added| each(bin, added));
}

/// Differences from this value on are decrements. A decrement is at most 8192, about a second of ticks: a thread may wait that long for
/// a processor between the kernel's read and write.
pub(super) const MOST: u16 = 7 << 13;
