//! The rate of the samples, and their clock.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::plan::DEFAULT_RATE;
use crate::os::ticks_per_second;
use crate::state::Inherited;

/// Samples per second: of CPU time, or of wall-clock time if `WALL` is set.
static RATE: Inherited<AtomicU32> =
    Inherited::new("what the user asked for, and what the system has", AtomicU32::new(DEFAULT_RATE));
static WALL: Inherited<AtomicBool> =
    Inherited::new("what the user asked for, and what the system has", AtomicBool::new(false));

/// How often per second the kernel checks timers of CPU time; 0 if that is not known yet.
static TICKS: Inherited<AtomicU32> =
    Inherited::new("what the user asked for, and what the system has", AtomicU32::new(0));

const NANOSECONDS: i64 = 1_000_000_000;

/// Sets the samples per second, and whether the clock is the wall clock.
pub(super) fn set(rate: u32, wall: bool) {
    RATE.store(rate, Relaxed);
    WALL.store(wall, Relaxed);
}

/// Asks the kernel how often per second it checks timers of CPU time, unless that is known.
pub(super) fn look_at_ticks() -> u32 {
    if TICKS.load(Relaxed) == 0 {
        TICKS.store(ticks_per_second(), Relaxed);
    }
    TICKS.load(Relaxed)
}

/// Samples per second.
pub(crate) fn profrate() -> u32 {
    RATE.load(Relaxed)
}

/// Whether time passes for sleeping threads: timers use wall-clock time, not CPU time.
pub(crate) fn is_wall() -> bool {
    WALL.load(Relaxed)
}

/// Nanoseconds from one sample to the next.
#[inline(never)] // a division takes more bytes than a call
pub(super) fn period() -> i64 {
    NANOSECONDS / i64::from(profrate().max(1))
}

/// The time between two checks of the timers by the kernel, in nanoseconds, which is the longest delay of an expiry in
/// a thread that is not interrupted. 0 for timers that expire when they are due.
#[inline(never)]
pub(super) fn kernel_tick() -> i64 {
    if is_wall() { 0 } else { NANOSECONDS / i64::from(TICKS.load(Relaxed).max(1)) }
}
