//! Restarts timers as their accounts require, and counts the ticks that an account owes.

use super::account::{Account, LATEST_NOTICE, NOTICE_OF_OTHERS, Settling};
use super::rate::{kernel_tick, period};
use crate::os::{Errno, SAMPLING_SIGNAL, Timer, contains, pending_signals};
use crate::samples::{self, bins};

/// Starts a timer with its first expiry after `first` nanoseconds, or resumes the timer at the time `now` as its
/// account requires. If a seccomp filter hides the time, the timer starts anew.
pub(super) fn start_timer(timer: Timer, account: &Account, now: Option<u64>, first: i64) -> Result<(), Errno> {
    // The time is relative. If the kernel got a time that has passed, it would send the signal at once, and this place
    // would be sampled.
    let next = now.map_or(first, |now| account.start(now, first as u64, period() as u64).saturating_sub(now) as i64);
    timer.set(next.max(1), period())
}

/// Counts the ticks that an account owes at the time `now`. `is_own` says whether this thread can tell if the timer's
/// thread blocks the signal.
pub(super) fn settle(account: &Account, now: u64, is_own: bool, is_last: bool) {
    if !bins::is_counting() && !is_last || account.has_no_place() {
        return;
    }
    let is_let_in = is_own && pending_signals().is_ok_and(|pending| !contains(pending, SAMPLING_SIGNAL));
    let most = if is_let_in { LATEST_NOTICE } else { NOTICE_OF_OTHERS };
    let settling = Settling { period: period() as u64, late: kernel_tick() as u64, most, is_last };
    if let Some((pc, ticks)) = account.settle(now, settling) {
        samples::count_late(pc, ticks);
    }
}
