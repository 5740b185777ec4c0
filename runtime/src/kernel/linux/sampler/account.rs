//! An account of a timer of CPU time: the ticks that the timer owes, and the ticks that were counted.
//!
//! The kernel checks timers of CPU time only at its own clock interrupts, and only the timers of the thread that
//! runs. On a busy machine a thread may use 0.1 seconds and more before an interrupt meets the thread; one signal
//! then stands for many expiries. When the timer is stopped, the kernel forgets expiries that it has not noticed. An
//! account compares the CPU time that passed with the ticks that were counted, so that a stop loses nothing.

use core::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::state::{Reset, Resettable, resets};

/// The state before the first start. The state of a running account is the time at which its first tick was due; the
/// state moves by the time that the account is stopped. The state of a stopped account is [`STOPPED`] and the time
/// since the first tick was due.
const NEVER: u64 = 0;
const STOPPED: u64 = 1 << 63;
/// Set if the account was stopped before its first tick.
const BEFORE_FIRST: u64 = 1 << 62;

/// The longest CPU time, in nanoseconds, before the kernel notices an expiry. If more is due, the cause is another
/// one: the thread blocks the signal, and its pc during that time is not known.
pub(super) const LATEST_NOTICE: u64 = 2_000_000_000;
/// As [`LATEST_NOTICE`], for a thread that may block the signal.
pub(super) const NOTICE_OF_OTHERS: u64 = 250_000_000;

resets! {
    /// The ticks of the process's POSIX timer.
    pub(super) static OF_PROCESS: Reset<Account> = Reset::new();
}

/// The rules for ticks that the kernel has not noticed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settling {
    /// The nanoseconds between two ticks.
    pub(super) period: u64,
    /// The usual delay in nanoseconds with which the kernel notices an expiry: a tick within this delay is not owed
    /// yet.
    pub(super) late: u64,
    /// The most nanoseconds that may be settled; if more are due, there is another reason.
    pub(super) most: u64,
    /// Whether no more ticks come: then a stopped account is settled too, and the pc of any earlier tick may be used.
    pub(super) is_last: bool,
}

/// The account of one timer. All times are nanoseconds of CPU time of the timer's thread or process, without the time
/// during which the account was stopped.
pub(super) struct Account {
    /// Whether the account runs, and since when: one word, because two threads and a handler may start and stop the
    /// account.
    state: AtomicU64,
    /// The ticks that the kernel has noticed.
    noticed: AtomicU64,
    /// The ticks that were counted.
    counted: AtomicU64,
    /// The pc of the latest tick since the last start, and the pc of the latest tick ever; 0 before the first tick.
    place: AtomicUsize,
    last_place: AtomicUsize,
}

impl Account {
    pub(super) const fn new() -> Account {
        Account {
            state: AtomicU64::new(NEVER),
            noticed: AtomicU64::new(0),
            counted: AtomicU64::new(0),
            place: AtomicUsize::new(0),
            last_place: AtomicUsize::new(0),
        }
    }

    /// Resets the account for a new timer.
    pub(super) fn reset(&self) {
        self.state.store(NEVER, SeqCst);
        self.noticed.store(0, Relaxed);
        self.counted.store(0, Relaxed);
        self.place.store(0, Relaxed);
        self.last_place.store(0, Relaxed);
    }

    /// Starts the account at the CPU time `now`, or resumes a stopped account, with a tick every `period`
    /// nanoseconds. The first tick ever is due `first` nanoseconds from now. The result is the CPU time of the
    /// timer's next expiry.
    pub(super) fn start(&self, now: u64, first: u64, period: u64) -> u64 {
        let change = |state| match state {
            NEVER => Some(now.saturating_add(first).max(1)),
            state if state & STOPPED != 0 => Some((now.wrapping_sub(state) & !STOPPED).max(1)),
            _ => None,
        };
        let before = self.state.fetch_update(SeqCst, SeqCst, change);
        let origin = before.map_or_else(|running| running, |state| change(state).unwrap_or(now));
        if before.is_ok() {
            self.place.store(0, Relaxed);
        }
        let due = due(now.checked_sub(origin), period);
        // The kernel does not notice these ticks any more: they are counted with the next tick that the kernel
        // notices.
        self.noticed.fetch_max(due, SeqCst);
        origin.saturating_add(due.saturating_mul(period))
    }

    /// The CPU time at `now` since the first tick was due; `None` if the account does not run.
    pub(super) fn passed(&self, now: u64) -> Option<u64> {
        match self.state.load(SeqCst) {
            NEVER => None,
            state if state & STOPPED == 0 => now.checked_sub(state),
            _ => None,
        }
    }

    /// Begins a new series of ticks, of which the first is due at the CPU time `first`. The ticks before have been
    /// counted. The result is false, and nothing changes, if the account does not run.
    ///
    /// If another thread settles the account at this moment, it may count a tick too much.
    pub(super) fn begin_series(&self, first: u64) -> bool {
        let runs = |state| (state != NEVER && state & STOPPED == 0).then_some(first);
        let has_begun = self.state.fetch_update(SeqCst, SeqCst, runs).is_ok();
        if has_begun {
            self.noticed.store(0, SeqCst);
            self.counted.store(0, SeqCst);
        }
        has_begun
    }

    /// Stops the account at the CPU time `now`.
    pub(super) fn stop(&self, now: u64) {
        let change = |state| (state != NEVER && state & STOPPED == 0).then_some(now.wrapping_sub(state) | STOPPED);
        let _ = self.state.fetch_update(SeqCst, SeqCst, change);
    }

    /// Whether the kernel has never said where the timer's thread was: then no tick can be settled.
    pub(super) fn has_no_place(&self) -> bool {
        self.last_place.load(Relaxed) == 0
    }

    /// Whether the account was started and then stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.state.load(SeqCst) & STOPPED != 0
    }

    /// Records that the kernel noticed `expiries` while the timer's thread was at `pc`. The result is the number of
    /// ticks to count at `pc`. Called in signal handlers.
    pub(super) fn notice(&self, expiries: u32, pc: usize) -> u32 {
        if self.is_stopped() {
            return 0; // a late signal after the stop; its ticks are counted with the next one
        }
        self.place.store(pc, Relaxed);
        self.last_place.store(pc, Relaxed);
        let noticed = self.noticed.fetch_add(u64::from(expiries), SeqCst).saturating_add(u64::from(expiries));
        self.count_up_to(noticed)
    }

    /// The number of ticks that are due at the CPU time `now` and were not counted, and the pc at which to count
    /// them: the pc at which the kernel last checked. `None` if no tick is due, or if the kernel has not checked
    /// since the start of the account; these ticks are counted with the first tick after the next start.
    pub(super) fn settle(&self, now: u64, settling: Settling) -> Option<(usize, u32)> {
        let Settling { period, late, most, is_last } = settling;
        let place = match self.place.load(Relaxed) {
            0 if is_last => self.last_place.load(Relaxed),
            place => place,
        };
        let passed = match self.state.load(SeqCst) {
            state if is_last && state & STOPPED != 0 => {
                Some(state & !STOPPED).filter(|passed| passed & BEFORE_FIRST == 0)
            }
            _ => self.passed(now),
        };
        let passed = passed?.checked_sub(late).filter(|_| place != 0)?;
        let since_counted = passed.saturating_sub(self.counted.load(SeqCst).saturating_mul(period));
        let ticks = if since_counted <= most { self.count_up_to(due(Some(passed), period)) } else { 0 };
        (ticks > 0).then_some((place, ticks))
    }

    /// Marks the ticks up to number `upto` as counted. The result is the number of ticks that were not counted
    /// before.
    fn count_up_to(&self, upto: u64) -> u32 {
        let before = self.counted.fetch_max(upto, SeqCst);
        u32::try_from(upto.saturating_sub(before)).unwrap_or(u32::MAX)
    }
}

/// A child has a new timer.
impl Resettable for Account {
    const VALUE: Account = Account::new();

    #[inline(always)]
    fn reset(&self) {
        Account::reset(self);
    }

    #[cfg(test)]
    fn change(&self) {
        let Account { state, noticed, counted, place, last_place } = self;
        [state, noticed, counted].iter().for_each(|number| number.store(7, Relaxed));
        [place, last_place].iter().for_each(|number| number.store(7, Relaxed));
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        let Account { state, noticed, counted, place, last_place } = self;
        let zeros =
            [noticed.load(Relaxed), counted.load(Relaxed), place.load(Relaxed) as u64, last_place.load(Relaxed) as u64];
        state.load(Relaxed) == NEVER && zeros == [0; 4]
    }
}

/// The number of ticks that are due after `passed` nanoseconds since the first tick was due; `None` is before that.
fn due(passed: Option<u64>, period: u64) -> u64 {
    passed.map_or(0, |passed| passed / period.max(1) + 1)
}

#[cfg(test)]
mod tests {
    use super::{Account, NOTICE_OF_OTHERS, Settling};

    /// The period of 100 ticks per second.
    const PERIOD: u64 = 10_000_000;
    const AT_A_STOP: Settling = Settling { period: PERIOD, late: 0, most: NOTICE_OF_OTHERS, is_last: false };
    const AT_THE_END: Settling = Settling { period: PERIOD, late: 0, most: NOTICE_OF_OTHERS, is_last: true };

    #[test]
    fn what_was_not_noticed_is_counted_at_a_stop_where_the_thread_was_last() {
        let account = Account::new();
        assert_eq!(account.start(1_000, 5_000_000, PERIOD), 5_001_000);
        assert_eq!(account.notice(3, 0x1234), 3);
        // Three ticks were noticed up to 25 ms; at 67 ms there are four more, the last due at 65 ms.
        assert_eq!(account.settle(67_000_000, AT_A_STOP), Some((0x1234, 4)));
        assert_eq!(account.settle(67_000_000, AT_A_STOP), None, "once");
        assert_eq!(account.notice(4, 0x5678), 0, "the kernel's signal for the same ones comes too late");
        assert_eq!(account.notice(2, 0x5678), 2);
    }

    #[test]
    fn a_stopped_account_goes_on_where_it_stopped() {
        let account = Account::new();
        account.start(0, PERIOD, PERIOD);
        assert_eq!(account.settle(35_000_000, AT_A_STOP), None, "the kernel has not said where the thread is");
        account.stop(35_000_000);
        account.stop(36_000_000);
        assert_eq!(account.settle(90_000_000, AT_A_STOP), None, "it stands still");
        assert_eq!(account.settle(90_000_000, AT_THE_END), None, "nobody has said where the thread was");
        // Five milliseconds remain until the fourth tick.
        assert_eq!(account.start(135_000_000, PERIOD, PERIOD), 140_000_000);
        assert_eq!(account.notice(1, 0x10), 4, "with the three that nobody noticed");
        assert_eq!(account.start(145_000_000, PERIOD, PERIOD), 150_000_000, "a second start changes nothing");
        assert!(!account.is_stopped());
        account.stop(165_000_000);
        assert_eq!(account.settle(165_000_000, AT_A_STOP), None);
        assert_eq!(account.settle(900_000_000, AT_THE_END), Some((0x10, 2)), "at the end: those of 150 and 160 ms");
    }

    #[test]
    fn what_a_blocked_signal_hides_is_not_invented() {
        let account = Account::new();
        account.start(0, PERIOD, PERIOD);
        assert_eq!(account.notice(1, 0x10), 1);
        assert_eq!(account.settle(PERIOD + NOTICE_OF_OTHERS + 2 * PERIOD, AT_A_STOP), None);
        assert_eq!(account.notice(26, 0x20), 26, "when the signal comes at last, it says how many there were");
    }

    #[test]
    fn a_new_series_counts_from_its_own_first_tick() {
        let account = Account::new();
        assert!(!account.begin_series(7), "nothing runs");
        account.start(0, 4_000_000, PERIOD);
        assert_eq!(account.notice(1, 0x10), 1);
        assert!(account.begin_series(13_000_000));
        assert_eq!(account.settle(12_999_999, AT_A_STOP), None);
        assert_eq!(account.settle(13_000_000, AT_A_STOP), Some((0x10, 1)));
        assert_eq!(account.notice(1, 0x20), 0, "the kernel's signal for the same tick comes too late");
        account.stop(15_000_000);
        assert!(!account.begin_series(99), "a stopped account stays as it is");
        assert_eq!(account.start(20_000_000, PERIOD, PERIOD), 28_000_000);
    }

    #[test]
    fn what_is_stopped_before_its_first_tick_keeps_the_time_to_that() {
        let account = Account::new();
        assert_eq!(account.start(1_000, PERIOD, PERIOD), 10_001_000);
        account.stop(4_001_000);
        assert!(account.is_stopped());
        assert_eq!(account.settle(900_000_000, AT_THE_END), None);
        assert_eq!(account.start(50_000_000, PERIOD, PERIOD), 56_000_000);
    }
}
