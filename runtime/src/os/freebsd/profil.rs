//! The kernel's sampling, and the interval timer.

use core::mem::MaybeUninit;

use super::{Errno, call, numbers};

const ITIMER_PROF: usize = 2;
const MICROSECONDS: i64 = 1_000_000;

/// FreeBSD's `profil(2)`: each tick in a thread increments the 16-bit counter at byte
/// `((pc - offset) * scale >> 16) & !1` of the samples. A `scale` of 0 stops the sampling.
///
/// # Safety
///
/// The samples must be `size` bytes that stay mapped while the kernel samples.
pub(crate) unsafe fn count_samples(samples: usize, size: usize, offset: usize, scale: u32) -> Result<(), Errno> {
    // SAFETY: the caller guarantees that the samples stay mapped.
    unsafe { call(numbers::PROFIL, [samples, size, offset, scale as usize]) }.map(|_| ())
}

/// Returns the period of the process's CPU-time interval timer in microseconds; 0 if the timer is stopped.
pub(crate) fn interval_timer() -> i64 {
    let [period, _] = interval_timer_and_rest();
    period
}

/// Returns the period of the process's CPU-time interval timer and the time until the timer expires, in microseconds.
fn interval_timer_and_rest() -> [i64; 2] {
    let mut found = MaybeUninit::<[i64; 4]>::uninit();
    // SAFETY: the kernel writes a struct itimerval of four words: the period and the remaining time.
    match unsafe { call(numbers::GETITIMER, [ITIMER_PROF, found.as_mut_ptr().addr()]) } {
        // SAFETY: the kernel has written all four words.
        Ok(_) => unsafe {
            let words: *const i64 = found.as_ptr().cast();
            [0, 2].map(|at| words.add(at).read_volatile() * MICROSECONDS + words.add(at + 1).read_volatile())
        },
        Err(_) => [0, 0],
    }
}

/// Starts the CPU-time interval timer again if the timer has this period and the kernel stopped the timer: if a tick
/// comes later than the period, the kernel (`itimerdecr`) leaves no time until the next expiry, so the timer never
/// expires again. The kernel posts SIGPROF at such a tick, so a call in the handler of SIGPROF is sufficient.
/// Async-signal-safe.
pub(crate) fn revive_interval_timer(microseconds: i64) {
    let [period, rest] = interval_timer_and_rest();
    if period == microseconds && rest <= 0 {
        let _ = set_interval_timer(microseconds);
    }
}

/// Sets the period of the CPU-time interval timer; 0 stops the timer.
pub(crate) fn set_interval_timer(microseconds: i64) -> Result<(), Errno> {
    let (seconds, rest) = (microseconds / MICROSECONDS, microseconds % MICROSECONDS);
    let timer = [seconds, rest, seconds, rest];
    // SAFETY: the kernel reads a struct itimerval.
    unsafe { call(numbers::SETITIMER, [ITIMER_PROF, (&raw const timer).addr(), 0]) }.map(|_| ())
}
