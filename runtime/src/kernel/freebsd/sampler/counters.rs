//! The kernel's 16-bit counters and their last values.
//!
//! The kernel increments a counter by a read, an addition and a write on behalf of the interrupted thread, and does not
//! check for overflow: at 8128 ticks per second a counter wraps after 8 seconds in one place. gmon therefore reads the
//! counters before a counter can wrap, and adds the difference from the last value to a 32-bit bin: see
//! [`differences`].
//!
//! The kernel charges system time when a system call returns: all of its ticks at one time, modulo 65,536, to the
//! counter of the instruction after the call. A difference can therefore be large although the process used little CPU
//! time since the last reading. [`read`] compares such a difference with the system time that the kernel may not have
//! charged before.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use super::differences;
use super::rate::profrate;
use crate::os::{Errno, count_samples, give_way, map, system_time};
use crate::samples::bins;
use crate::state::Inherited;

unsafe extern "C" {
    /// Any function of the C library: its address tells whether the C library has counters.
    fn __error() -> *mut c_int;
}

/// The process's system time at the last reading, in nanoseconds.
static READ_AT: Inherited<AtomicU64> =
    Inherited::new("set by each start of the kernel's sampling, in the child too", AtomicU64::new(0));
/// The process's system time at the reading before the last reading that found a change. In a process with one thread,
/// the kernel has charged all system time before: a thread that is in a system call changes no counter.
static CHARGED_UNTIL: Inherited<AtomicU64> =
    Inherited::new("set by each start of the kernel's sampling, in the child too", AtomicU64::new(0));
/// Whether system calls return to the program's code. In a dynamic program, they return to the C library, which has no
/// counters.
static CALLS_RETURN_TO_COUNTERS: Inherited<AtomicBool> =
    Inherited::new("the child is of the same program", AtomicBool::new(false));
/// Set if ticks of a system call may be missing.
static MAY_MISS_CHARGE: Inherited<AtomicBool> =
    Inherited::new("cleared where the child forgets its parent's ticks", AtomicBool::new(false));

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
        CALLS_RETURN_TO_COUNTERS.store(bins::covers(__error as *const () as usize), SeqCst);
    }
    let system = system_time();
    READ_AT.store(system, SeqCst);
    CHARGED_UNTIL.store(system, SeqCst);
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
    read(true);
}

/// Whether ticks of a system call may be missing: the call may have used more ticks than a counter holds.
pub(super) fn may_miss_charge() -> bool {
    MAY_MISS_CHARGE.load(SeqCst) && CALLS_RETURN_TO_COUNTERS.load(SeqCst)
}

/// The CPU time of a number of ticks, in nanoseconds.
pub(super) fn time_of(ticks: u16) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    u64::from(ticks) * SECOND / u64::from(profrate().max(1))
}

/// Reads the counters and discards the differences.
pub(super) fn discard() {
    read(false);
}

/// Discards the differences in the child of a `fork`, because the ticks belong to the parent.
pub(super) fn forget() {
    differences::allow_reading();
    discard();
    MAY_MISS_CHARGE.store(false, SeqCst);
}

/// Reads the counters. With `counts`, adds the differences to the bins. A difference from [`MOST`] on is a charge if
/// system calls return to code with counters, and if the kernel may not have charged that much system time before;
/// otherwise the difference is a decrement.
#[inline(never)]
fn read(counts: bool) {
    let (system, most) = (system_time(), time_of(MOST));
    let uncharged = system.saturating_sub(CHARGED_UNTIL.load(SeqCst));
    // A charge is a whole number of the kernel's slower ticks, of which one may have begun before.
    let is_charge = |ticks: u16| {
        let time = time_of(ticks);
        CALLS_RETURN_TO_COUNTERS.load(SeqCst) && uncharged >= time - time / 64
    };
    let is_changed = Cell::new(false);
    let wait = || {
        give_way();
        true
    };
    // The largest difference is the most frequent decrement.
    differences::read(u16::MAX, wait, |bin, _, added| {
        is_changed.set(true);
        if !counts {
            return;
        }
        if added < MOST || is_charge(added) {
            bins::count_in(bin, added);
        } else if system >= most {
            // In a process with several threads, a thread may have been in a system call all the time.
            MAY_MISS_CHARGE.store(true, SeqCst);
        }
    });
    let read_at = READ_AT.swap(system, SeqCst);
    if is_changed.get() {
        CHARGED_UNTIL.store(read_at, SeqCst);
        // 65,536 ticks are 8 / 7 of MOST.
        if counts && uncharged >= most + most / 7 {
            MAY_MISS_CHARGE.store(true, SeqCst);
        }
    }
}

/// Differences from this value on are decrements, unless they are charges of system time. A decrement is at most 8192,
/// about a second of ticks: a thread may wait that long for a processor between the kernel's read and write.
pub(super) const MOST: u16 = 7 << 13;
