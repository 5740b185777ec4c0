//! The kernel's variables, and the rates of the kernel's clocks.

use super::constants::CLOCK_WORDS;
use super::{Errno, call, numbers};

const CTL_KERN: i32 = 1;
const KERN_CLOCKRATE: i32 = 12;

/// The rates of the kernel's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockRates {
    /// The number of clock ticks per second, at which the kernel checks timers.
    pub(crate) ticks: i32,
    /// The number of samples per second of `profil`.
    pub(crate) profiling: i32,
}

/// Returns the rates of the kernel's clocks; all 0 if the kernel does not report the rates, as in FreeBSD's capability
/// mode.
pub(crate) fn clock_rates() -> ClockRates {
    // `struct clockinfo` (`sys/time.h`) begins with the number of ticks and ends with the number of samples.
    let mut words = [0_i32; CLOCK_WORDS];
    let found = sysctl(&[CTL_KERN, KERN_CLOCKRATE], (&raw mut words).addr(), size_of::<[i32; CLOCK_WORDS]>());
    let [ticks, .., profiling] = words;
    if found == Ok(size_of::<[i32; CLOCK_WORDS]>()) { ClockRates { ticks, profiling } } else { ClockRates::default() }
}

/// Reads a system variable into `room` bytes of memory at `address`. Returns the number of bytes.
pub(super) fn sysctl(name: &[i32], address: usize, room: usize) -> Result<usize, Errno> {
    let mut length = room;
    let arguments = [name.as_ptr().addr(), name.len(), address, (&raw mut length).addr(), 0, 0];
    // SAFETY: the kernel reads the name, and writes at most `room` bytes.
    unsafe { call(numbers::SYSCTL, arguments) }?;
    Ok(length)
}
