//! The ticks that a timer of CPU time owes, and those that were counted.
//!
//! The kernel looks at timers of CPU time only at its own clock interrupts, and only at those of the thread that just runs.
//! On a busy machine a thread may use 0.1 seconds and more before an interrupt meets the thread; one signal then stands for
//! many expiries. What has expired and was not noticed when the timer is stopped, the kernel forgets. An account compares
//! the CPU time that passed with the ticks that were counted, so that a stop costs nothing.

use core::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::period;

/// An account stands still, and no tick of it was ever due.
const NEVER: u64 = u64::MAX;

/// At most so many nanoseconds of CPU time pass before the kernel notices that a timer has expired. When more is due, the
/// cause is another one: the thread blocks the signal. Where the thread was during that time is not known.
pub(super) const LATEST_NOTICE: u64 = 2_000_000_000;
/// The same where the thread may be blocking the signal.
pub(super) const NOTICE_OF_OTHERS: u64 = 250_000_000;

/// How a tick is settled that the kernel has not noticed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settling {
    /// The nanoseconds from the time of an expiry to the kernel's notice, on average: the time of the first tick makes up for
    /// them.
    pub(super) late: u64,
    /// The most nanoseconds that may be settled: more are due for another reason.
    pub(super) most: u64,
    /// Whether no tick comes any more: then an account that stands still is settled too, and the kernel may have looked at
    /// any time.
    pub(super) is_last: bool,
}

/// What one timer owes. All numbers of nanoseconds are CPU time of the timer's thread or process, less the time that passed
/// while the account stood still.
pub(super) struct Account {
    /// When the first tick was due, in nanoseconds; [`NEVER`] before the first start.
    origin: AtomicU64,
    /// When the account was stopped, in nanoseconds; [`NEVER`] while it runs.
    stopped: AtomicU64,
    /// The ticks that the kernel has noticed.
    noticed: AtomicU64,
    /// The ticks that were counted, somewhere.
    counted: AtomicU64,
    /// The pc of the latest tick since the account was started, and the pc of the latest tick ever; 0 before the first one.
    place: AtomicUsize,
    last_place: AtomicUsize,
}

impl Account {
    pub(super) const fn new() -> Account {
        Account {
            origin: AtomicU64::new(NEVER),
            stopped: AtomicU64::new(NEVER),
            noticed: AtomicU64::new(0),
            counted: AtomicU64::new(0),
            place: AtomicUsize::new(0),
            last_place: AtomicUsize::new(0),
        }
    }

    /// Begins at zero, for a new timer.
    pub(super) fn reset(&self) {
        self.origin.store(NEVER, Relaxed);
        self.stopped.store(NEVER, Relaxed);
        self.noticed.store(0, Relaxed);
        self.counted.store(0, Relaxed);
        self.place.store(0, Relaxed);
        self.last_place.store(0, Relaxed);
    }

    /// Starts the account at the CPU time `now`, or lets the account go on if it was stopped. The result is the CPU time at
    /// which the timer is to expire next. The first tick of all is due `first` nanoseconds from now.
    pub(super) fn start(&self, now: u64, first: u64) -> u64 {
        let origin = match (self.origin.load(Relaxed), self.stopped.swap(NEVER, Relaxed)) {
            (NEVER, _) => now.saturating_add(first),
            (origin, NEVER) => origin,
            // The account was not running while this much CPU time passed.
            (origin, stopped) => origin.saturating_add(now.saturating_sub(stopped)),
        };
        self.origin.store(origin, Relaxed);
        self.place.store(0, Relaxed);
        let due = due(now, origin);
        // These the kernel does not notice any more: they come with the next tick that the kernel notices.
        self.noticed.fetch_max(due, SeqCst);
        origin.saturating_add(due.saturating_mul(period_of_account()))
    }

    /// Stops the account at the CPU time `now`.
    pub(super) fn stop(&self, now: u64) {
        let _ = self.stopped.compare_exchange(NEVER, now, Relaxed, Relaxed);
    }

    /// Takes in that the kernel noticed so many expiries while the timer's thread was at `pc`. The result is the number of
    /// ticks to be counted there. In signal handlers.
    pub(super) fn notice(&self, expiries: u32, pc: usize) -> u32 {
        self.place.store(pc, Relaxed);
        self.last_place.store(pc, Relaxed);
        let noticed = self.noticed.fetch_add(u64::from(expiries), SeqCst).saturating_add(u64::from(expiries));
        self.count_up_to(noticed)
    }

    /// The ticks that are due at the CPU time `now` and were not counted, with the pc where they are to be counted: where
    /// the thread was when the kernel last looked. `None` if there are none, or the kernel has not looked since the start of
    /// the account: then they come with the first tick after the next start.
    pub(super) fn settle(&self, now: u64, settling: Settling) -> Option<(usize, u32)> {
        let Settling { late, most, is_last } = settling;
        let (origin, stopped) = (self.origin.load(Relaxed), self.stopped.load(Relaxed));
        let place = match self.place.load(Relaxed) {
            0 if is_last => self.last_place.load(Relaxed),
            place => place,
        };
        if origin == NEVER || stopped != NEVER && !is_last || place == 0 {
            return None;
        }
        let due = due(now.min(stopped).saturating_sub(late), origin);
        let is_late = due.saturating_sub(self.counted.load(SeqCst)) <= most / period_of_account();
        let ticks = if is_late { self.count_up_to(due) } else { 0 };
        (ticks > 0).then_some((place, ticks))
    }

    /// Marks the ticks up to number `upto` as counted. The result is how many of them were not.
    fn count_up_to(&self, upto: u64) -> u32 {
        let before = self.counted.fetch_max(upto, SeqCst);
        u32::try_from(upto.saturating_sub(before)).unwrap_or(u32::MAX)
    }
}

/// How many ticks are due at the CPU time `now` if the first one is due at `origin`.
fn due(now: u64, origin: u64) -> u64 {
    now.checked_sub(origin).map_or(0, |passed| passed / period_of_account() + 1)
}

fn period_of_account() -> u64 {
    period().max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::{Account, NOTICE_OF_OTHERS, Settling};

    const AT_A_STOP: Settling = Settling { late: 0, most: NOTICE_OF_OTHERS, is_last: false };
    const AT_THE_END: Settling = Settling { late: 0, most: NOTICE_OF_OTHERS, is_last: true };

    /// The period of 100 ticks each second.
    const PERIOD: u64 = 10_000_000;

    #[test]
    fn what_was_not_noticed_is_counted_at_a_stop_where_the_thread_was_last() {
        let account = Account::new();
        assert_eq!(account.start(1_000, 5_000_000), 5_001_000);
        assert_eq!(account.notice(3, 0x1234), 3);
        // Three were noticed up to 25 ms; at 67 ms there are four more, the last one due at 65 ms.
        assert_eq!(account.settle(67_000_000, AT_A_STOP), Some((0x1234, 4)));
        assert_eq!(account.settle(67_000_000, AT_A_STOP), None, "once");
        assert_eq!(account.notice(4, 0x5678), 0, "the kernel's signal for the same ones comes too late");
        assert_eq!(account.notice(2, 0x5678), 2);
    }

    #[test]
    fn a_stopped_account_goes_on_where_it_stopped() {
        let account = Account::new();
        account.start(0, PERIOD);
        assert_eq!(account.settle(35_000_000, AT_A_STOP), None, "the kernel has not said where the thread is");
        account.stop(35_000_000);
        account.stop(36_000_000);
        assert_eq!(account.settle(90_000_000, AT_A_STOP), None, "it stands still");
        assert_eq!(account.settle(90_000_000, AT_THE_END), None, "nobody has said where the thread was");
        // Five milliseconds are left to the fourth tick.
        assert_eq!(account.start(135_000_000, PERIOD), 140_000_000);
        assert_eq!(account.notice(1, 0x10), 4, "with the three that nobody noticed");
        assert_eq!(account.start(145_000_000, PERIOD), 150_000_000, "a second start changes nothing");
        account.stop(165_000_000);
        assert_eq!(account.settle(165_000_000, AT_A_STOP), None);
        assert_eq!(account.settle(900_000_000, AT_THE_END), Some((0x10, 2)), "at the end: those of 150 and 160 ms");
    }

    #[test]
    fn what_a_blocked_signal_hides_is_not_invented() {
        let account = Account::new();
        account.start(0, PERIOD);
        assert_eq!(account.notice(1, 0x10), 1);
        assert_eq!(account.settle(PERIOD + NOTICE_OF_OTHERS + PERIOD, AT_A_STOP), None);
        assert_eq!(account.notice(26, 0x20), 26, "when the signal comes at last, it says how many there were");
    }
}
