//! The kernel's variables: the rates of the clocks, and the number of processors.

use super::{Errno, call, numbers};

const CTL_KERN: i32 = 1;
const KERN_CLOCKRATE: i32 = 12;

/// `struct clockinfo` (`sys/time.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockRates {
    /// The number of clock ticks per second, at which the kernel checks timers.
    pub(crate) ticks: i32,
    tick: i32,
    spare: i32,
    statistics: i32,
    /// The number of samples per second of `profil`.
    pub(crate) profiling: i32,
}

/// Returns the rates of the kernel's clocks; all 0 if the kernel does not report the rates, as in capability mode.
pub(crate) fn clock_rates() -> ClockRates {
    let mut rates = ClockRates::default();
    let found = sysctl(&[CTL_KERN, KERN_CLOCKRATE], (&raw mut rates).addr(), size_of::<ClockRates>());
    if found == Ok(size_of::<ClockRates>()) { rates } else { ClockRates::default() }
}

/// Returns the number of processors; 1 if the kernel does not report the number.
pub(crate) fn processors() -> u32 {
    const CTL_HW: i32 = 6;
    const HW_NCPU: i32 = 3;
    let mut number = 0_u32;
    let found = sysctl(&[CTL_HW, HW_NCPU], (&raw mut number).addr(), size_of::<u32>());
    if found == Ok(size_of::<u32>()) { number.max(1) } else { 1 }
}

/// Reads a system variable into `room` bytes of memory at `address`. Returns the number of bytes.
pub(super) fn sysctl(name: &[i32], address: usize, room: usize) -> Result<usize, Errno> {
    let mut length = room;
    let arguments = [name.as_ptr().addr(), name.len(), address, (&raw mut length).addr(), 0, 0];
    // SAFETY: the kernel reads the name, and writes at most `room` bytes.
    unsafe { call(numbers::SYSCTL, arguments) }?;
    Ok(length)
}
