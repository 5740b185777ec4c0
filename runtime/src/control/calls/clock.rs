//! The time since the start of the profile.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::os::{steady_time, unix_time};
use crate::ownership::start_time;

/// Measures the time since the start of the profile. The start is known by the clock of the day, which somebody may
/// set; so another clock measures from the first question on. Zeros are a clock that nobody has asked.
pub(super) struct Clock {
    /// The steady time of the start, and 1; 0 before the first question.
    start: AtomicU64,
}

impl Clock {
    /// The nanoseconds since the start of the profile.
    pub(super) fn now(&self) -> u64 {
        let now = steady_time();
        if self.start.load(Relaxed) == 0 {
            let since_start = unix_time().saturating_sub(start_time());
            self.start.store(now.saturating_sub(since_start).saturating_add(1), Relaxed);
        }
        now.saturating_add(1).saturating_sub(self.start.load(Relaxed))
    }

    /// Begins anew in the child of a fork, whose profile has another start.
    pub(super) fn restart(&self) {
        self.start.store(0, Relaxed);
    }
}
