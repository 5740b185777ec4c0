//! The kernel's own sampling, its clocks, and the interval timer.

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
    /// How often each second the kernel looks at timers.
    pub(crate) ticks: i32,
    tick: i32,
    statistics: i32,
    /// How often each second `profil` samples.
    pub(crate) profiling: i32,
}

/// How often the kernel's clocks tick; all 0 where the kernel does not say.
pub(crate) fn clock_rates() -> ClockRates {
    let mut rates = ClockRates::default();
    let found = sysctl(&[CTL_KERN, KERN_CLOCKRATE], (&raw mut rates).addr(), size_of::<ClockRates>());
    if found == Ok(size_of::<ClockRates>()) { rates } else { ClockRates::default() }
}

/// Reads a value of the kernel's into memory at `address`, of which there is `room`. The result is the number of bytes.
pub(super) fn sysctl(name: &[i32], address: usize, room: usize) -> Result<usize, Errno> {
    let mut length = room;
    let arguments = [name.as_ptr().addr(), name.len(), address, (&raw mut length).addr(), 0, 0];
    // SAFETY: the kernel reads the name, and writes no more than there is room for.
    unsafe { call(numbers::SYSCTL, arguments) }?;
    Ok(length)
}

/// `profil(2)`: see [`kernel`](crate::kernel).
///
/// # Safety
///
/// `buffer` must be `length` bytes that are never unmapped, with a header and `samples_size` bytes of samples.
pub(crate) unsafe fn profil(
    buffer: *mut c_void,
    length: usize,
    samples_size: usize,
    offset: usize,
    scale: u32,
    directory: i32,
) -> Result<(), Errno> {
    let arguments = [buffer.addr(), length, samples_size, offset, scale as usize, directory as usize];
    // SAFETY: the caller's promise.
    unsafe { call(numbers::PROFIL, arguments) }.map(|_| ())
}

/// The period of the process's interval timer of CPU time in microseconds; 0 while it stands still.
pub(crate) fn interval_timer() -> i64 {
    let mut found = MaybeUninit::<[i64; 4]>::uninit();
    // SAFETY: the kernel writes a struct itimerval, four words: the period, and what is left of it.
    match unsafe { call(numbers::GETITIMER, [ITIMER_PROF, found.as_mut_ptr().addr()]) } {
        // SAFETY: it has written them.
        Ok(_) => unsafe {
            let words: *const i64 = found.as_ptr().cast();
            words.read_volatile() * MICROSECONDS + words.add(1).read_volatile()
        },
        Err(_) => 0,
    }
}

/// Sets the period of that timer, or stops it with 0.
pub(crate) fn set_interval_timer(microseconds: i64) -> Result<(), Errno> {
    let (seconds, rest) = (microseconds / MICROSECONDS, microseconds % MICROSECONDS);
    let timer = [seconds, rest, seconds, rest];
    // SAFETY: the kernel reads a struct itimerval.
    unsafe { call(numbers::SETITIMER, [ITIMER_PROF, (&raw const timer).addr(), 0]) }.map(|_| ())
}
