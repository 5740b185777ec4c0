//! The kernel's own sampling, its clocks, and the interval timer.

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
    spare: i32,
    statistics: i32,
    /// How often each second `profil` samples.
    pub(crate) profiling: i32,
}

/// How often the kernel's clocks tick; all 0 where the kernel does not say. (After `cap_enter` it does not.)
pub(crate) fn clock_rates() -> ClockRates {
    let mut rates = ClockRates::default();
    let found = sysctl(&[CTL_KERN, KERN_CLOCKRATE], (&raw mut rates).addr(), size_of::<ClockRates>());
    if found == Ok(size_of::<ClockRates>()) { rates } else { ClockRates::default() }
}

/// How many processors there are; 1 where the kernel does not say.
pub(crate) fn processors() -> u32 {
    const CTL_HW: i32 = 6;
    const HW_NCPU: i32 = 3;
    let mut number = 0_u32;
    let found = sysctl(&[CTL_HW, HW_NCPU], (&raw mut number).addr(), size_of::<u32>());
    if found == Ok(size_of::<u32>()) { number.max(1) } else { 1 }
}

/// Reads a value of the kernel's into memory at `address`, of which there is `room`. The result is the number of bytes.
pub(super) fn sysctl(name: &[i32], address: usize, room: usize) -> Result<usize, Errno> {
    let mut length = room;
    let arguments = [name.as_ptr().addr(), name.len(), address, (&raw mut length).addr(), 0, 0];
    // SAFETY: the kernel reads the name, and writes no more than there is room for.
    unsafe { call(numbers::SYSCTL, arguments) }?;
    Ok(length)
}

/// `profil(2)` of FreeBSD: from now on each tick of a thread at a pc raises the 16-bit counter at byte
/// `((pc - offset) * scale >> 16) & !1` of the samples. A `scale` of 0 stops that.
///
/// # Safety
///
/// The samples must be `size` bytes that are never unmapped while they are counted in.
pub(crate) unsafe fn count_samples(samples: usize, size: usize, offset: usize, scale: u32) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe { call(numbers::PROFIL, [samples, size, offset, scale as usize]) }.map(|_| ())
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
