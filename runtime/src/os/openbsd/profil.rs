//! The kernel's sampling, clock rates, and the interval timer.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use super::{Errno, call, numbers};

const CTL_KERN: i32 = 1;
const KERN_CLOCKRATE: i32 = 12;
const ITIMER_PROF: usize = 2;
const MICROSECONDS: i64 = 1_000_000;

/// `struct clockinfo` (`sys/time.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockRates {
    /// The number of clock ticks per second, at which the kernel checks timers.
    pub(crate) ticks: i32,
    tick: i32,
    statistics: i32,
    /// The number of samples per second of `profil`.
    pub(crate) profiling: i32,
}

/// Returns the rates of the kernel's clocks; all 0 if the kernel does not report the rates.
pub(crate) fn clock_rates() -> ClockRates {
    let mut rates = ClockRates::default();
    let found = sysctl(&[CTL_KERN, KERN_CLOCKRATE], (&raw mut rates).addr(), size_of::<ClockRates>());
    if found == Ok(size_of::<ClockRates>()) { rates } else { ClockRates::default() }
}

/// Reads a system variable into `room` bytes of memory at `address`. Returns the number of bytes.
pub(super) fn sysctl(name: &[i32], address: usize, room: usize) -> Result<usize, Errno> {
    let mut length = room;
    let arguments = [name.as_ptr().addr(), name.len(), address, (&raw mut length).addr(), 0, 0];
    // SAFETY: the kernel reads the name, and writes at most `room` bytes.
    unsafe { call(numbers::SYSCTL, arguments) }?;
    Ok(length)
}

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
