//! How often samples are taken, and by which clock.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::plan::DEFAULT_RATE;

/// Samples for each second, of CPU time unless `WALL` is set.
static RATE: AtomicU32 = AtomicU32::new(DEFAULT_RATE);
static WALL: AtomicBool = AtomicBool::new(false);

/// How often each second the kernel looks at timers of CPU time.
static TICKS: AtomicU32 = AtomicU32::new(DEFAULT_RATE);

const NANOSECONDS: i64 = 1_000_000_000;

/// Sets the samples for each second, and whether the seconds are the world's.
pub(super) fn set(rate: u32, wall: bool) {
    RATE.store(rate, Relaxed);
    WALL.store(wall, Relaxed);
}

/// Sets how often each second the kernel looks at timers of CPU time.
pub(super) fn set_ticks(ticks: u32) {
    TICKS.store(ticks, Relaxed);
}

/// Samples in each second.
pub(crate) fn profrate() -> u32 {
    RATE.load(Relaxed)
}

/// Whether time passes for threads that sleep: timers run by the world's time, not by CPU time.
pub(super) fn is_wall() -> bool {
    WALL.load(Relaxed)
}

/// Nanoseconds from one sample to the next.
pub(super) fn period() -> i64 {
    NANOSECONDS / i64::from(profrate().max(1))
}

/// Half the time from one look of the kernel at the timers to the next, in nanoseconds: so late are expiries noticed on
/// average.
pub(super) fn half_tick() -> i64 {
    if is_wall() { 0 } else { NANOSECONDS / i64::from(TICKS.load(Relaxed).max(1)) / 2 }
}
