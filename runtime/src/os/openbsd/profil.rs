//! The kernel's sampling, and the interval timer.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use super::{Errno, call, numbers};

const ITIMER_PROF: usize = 2;
const MICROSECONDS: i64 = 1_000_000;

/// OpenBSD's `profil(2)`; [`kernel`](crate::kernel) explains the arguments.
///
/// # Safety
///
/// `buffer` must be `length` bytes that are never unmapped, and begin with a header and `samples_size` bytes of
/// samples.
pub(crate) unsafe fn profil(
    buffer: *mut c_void,
    length: usize,
    samples_size: usize,
    offset: usize,
    scale: u32,
    directory: i32,
) -> Result<(), Errno> {
    let arguments = [buffer.addr(), length, samples_size, offset, scale as usize, directory as usize];
    // SAFETY: the caller guarantees that the buffer stays mapped.
    unsafe { call(numbers::PROFIL, arguments) }.map(|_| ())
}

/// Returns the period of the process's CPU-time interval timer in microseconds; 0 if the timer is stopped.
pub(crate) fn interval_timer() -> i64 {
    let mut found = MaybeUninit::<[i64; 4]>::uninit();
    // SAFETY: the kernel writes a struct itimerval of four words: the period and the remaining time.
    match unsafe { call(numbers::GETITIMER, [ITIMER_PROF, found.as_mut_ptr().addr()]) } {
        // SAFETY: the kernel has written all four words.
        Ok(_) => unsafe {
            let words: *const i64 = found.as_ptr().cast();
            words.read_volatile() * MICROSECONDS + words.add(1).read_volatile()
        },
        Err(_) => 0,
    }
}

/// Sets the period of the CPU-time interval timer; 0 stops the timer.
pub(crate) fn set_interval_timer(microseconds: i64) -> Result<(), Errno> {
    let (seconds, rest) = (microseconds / MICROSECONDS, microseconds % MICROSECONDS);
    let timer = [seconds, rest, seconds, rest];
    // SAFETY: the kernel reads a struct itimerval.
    unsafe { call(numbers::SETITIMER, [ITIMER_PROF, (&raw const timer).addr(), 0]) }.map(|_| ())
}

/// Does nothing: after a late tick, OpenBSD's kernel (`itimerdecr`) starts the next interval.
pub(crate) fn revive_interval_timer(_microseconds: i64) {}
