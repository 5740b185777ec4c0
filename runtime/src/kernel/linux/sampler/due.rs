//! Timers that go on where their account says, and the ticks that an account owes.

use super::rate::{half_tick, period};
use crate::os::{Errno, SAMPLING_SIGNAL, Timer, contains, pending_signals};
use crate::per_process::{Account, LATEST_NOTICE, NOTICE_OF_OTHERS, Settling};
use crate::samples::bins;

/// Lets a timer run that is to expire first in `first` nanoseconds, or go on at the time `now` as the timer's account says. Where
/// a filter of system calls keeps the time from us, the timer begins anew.
pub(super) fn start_timer(timer: Timer, account: &Account, now: Option<u64>, first: i64) -> Result<(), Errno> {
    match now {
        Some(now) => timer.set_at(account.start(now, first as u64, period() as u64), period()),
        None => timer.set(first, period()),
    }
}

/// Counts the ticks that an account owes at the time `now`. `is_own` says whether this thread can tell if the signal is
/// blocked.
pub(super) fn settle(account: &Account, now: u64, is_own: bool, is_last: bool) {
    if !bins::is_counting() && !is_last {
        return;
    }
    let is_let_in = is_own && pending_signals().is_ok_and(|pending| !contains(pending, SAMPLING_SIGNAL));
    let most = if is_let_in { LATEST_NOTICE } else { NOTICE_OF_OTHERS };
    let settling = Settling { period: period() as u64, late: 2 * half_tick() as u64, most, is_last };
    if let Some((pc, ticks)) = account.settle(now, settling) {
        bins::count_late(pc, ticks);
    }
}
