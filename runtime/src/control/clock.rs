//! The time since the start of the profile.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::os::{steady_time, unix_time};
use crate::ownership::start_time;
use crate::state::{Reset, resets};

resets! {
    /// The steady time of the start, and 1; 0 before the first question. The start is known by the clock of the day,
    /// which somebody may set; so another clock measures from the first question on.
    static START: Reset<AtomicU64> = Reset::new();
}

/// The nanoseconds since the start of the profile. The profile of the child of a fork starts at the fork.
pub(super) fn now() -> u64 {
    let now = steady_time();
    if START.load(Relaxed) == 0 {
        let since_start = unix_time().saturating_sub(start_time());
        START.store(now.saturating_sub(since_start).saturating_add(1), Relaxed);
    }
    now.saturating_add(1).saturating_sub(START.load(Relaxed))
}
