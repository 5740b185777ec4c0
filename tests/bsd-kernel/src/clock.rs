//! Virtual time, which passes only when a program requests ticks, reads the clock or sleeps. Runs on a busy machine are
//! therefore the same as on an idle machine.

/// The rates of a system's clocks in Hz, which `kern.clockrate` reports.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// The clock of interval timers.
    pub hz: u64,
    /// The statistics clock.
    pub stathz: u64,
    /// The profiling clock.
    pub profhz: u64,
}

const SECOND: u64 = 1_000_000_000;
/// The real time at boot, in seconds since 1970.
const EPOCH: u64 = 1_700_000_000;

/// The machine's clock.
#[derive(Debug)]
pub struct Clock {
    rates: Rates,
    /// Ticks of the profiling clock, all in user mode.
    ticks: u64,
    /// Nanoseconds that passed without ticks.
    idle: u64,
}

impl Clock {
    /// Returns a clock at boot.
    #[must_use]
    pub fn new(rates: Rates) -> Clock {
        Clock { rates, ticks: 0, idle: 0 }
    }

    /// Nanoseconds since boot.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.of_ticks(self.ticks) + self.idle
    }

    /// Nanoseconds since 1970.
    #[must_use]
    pub fn real(&self) -> u64 {
        EPOCH * SECOND + self.now()
    }

    /// Returns the nanoseconds of a number of ticks of the profiling clock.
    #[must_use]
    pub fn of_ticks(&self, ticks: u64) -> u64 {
        (u128::from(ticks) * u128::from(SECOND) / u128::from(self.rates.profhz)) as u64
    }

    /// Advances the time by one period of the profiling clock. Returns the number of ticks of the interval-timer clock
    /// meanwhile.
    pub fn tick(&mut self) -> u64 {
        let period = SECOND / self.rates.hz;
        let before = self.now() / period;
        self.ticks += 1;
        self.now() / period - before
    }

    /// Advances the time without charging CPU time to a program.
    pub fn pass(&mut self, nanoseconds: u64) {
        self.idle += nanoseconds;
    }

    /// Returns the microseconds of a tick of the interval-timer clock.
    #[must_use]
    pub fn interval_tick(&self) -> u64 {
        1_000_000 / self.rates.hz
    }
}

/// A timer of setitimer(2) that counts the process's CPU time, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalTimer {
    /// The time until the timer expires; 0 if the timer is off.
    pub value: u64,
    /// The interval after the first expiry; 0 if the timer expires once.
    pub interval: u64,
}

/// How a system starts the next interval of a timer that expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reload {
    /// FreeBSD: only if the interval is longer than the time by which the tick was late. Otherwise, the timer stops for
    /// good.
    ///
    /// Source: sys/kern/kern_time.c (`itimerdecr`). Seen on FreeBSD 15.1 (amd64).
    IfLonger,
    /// OpenBSD: the timer skips whole intervals.
    Always,
}

impl IntervalTimer {
    /// Advances the CPU time. Returns whether the timer expired.
    pub fn count_down(&mut self, microseconds: u64, reload: Reload) -> bool {
        if self.value == 0 || self.value > microseconds {
            self.value = self.value.saturating_sub(microseconds);
            return false;
        }
        let late = microseconds - self.value;
        self.value = match reload {
            Reload::IfLonger => self.interval.saturating_sub(late),
            Reload::Always => late.checked_rem(self.interval).map_or(0, |late| self.interval - late),
        };
        true
    }
}

/// A timer of the machine's clock: ITIMER_REAL and ktimer_create(2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Timer {
    /// When the timer expires, in nanoseconds since boot.
    pub deadline: Option<u64>,
    /// The interval after the first expiry; 0 if the timer expires once.
    pub interval: u64,
    /// The signal at each expiry; 0 sends no signal.
    pub signal: u32,
    /// The value that the signal carries.
    pub value: u64,
    /// The thread that gets the signal; 0 for the process.
    pub thread: i64,
}

impl Timer {
    /// Returns the number of expiries up to now, and sets the next expiry.
    pub fn expire(&mut self, now: u64) -> u64 {
        let Some(deadline) = self.deadline.filter(|deadline| *deadline <= now) else {
            return 0;
        };
        let times = (now - deadline).checked_div(self.interval).map_or(1, |more| more + 1);
        self.deadline = (self.interval != 0).then(|| deadline + times * self.interval);
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_a_period_of_the_profiling_clock() {
        let mut clock = Clock::new(Rates { hz: 1000, stathz: 127, profhz: 8128 });
        let interval_ticks: u64 = (0..8128).map(|_| clock.tick()).sum();
        assert_eq!((clock.now(), interval_ticks), (SECOND, 1000));
    }

    #[test]
    fn an_interval_timer_expires_at_its_end_and_again() {
        let mut timer = IntervalTimer { value: 2000, interval: 3000 };
        let expired: Vec<_> = (0..8).filter(|_| timer.count_down(1000, Reload::IfLonger)).collect();
        assert_eq!(expired, [1, 4, 7]);
    }

    #[test]
    fn a_tick_later_than_the_interval_stops_freebsds_timer() {
        let after = |microseconds, reload| {
            let mut timer = IntervalTimer { value: 1000, interval: 3000 };
            (timer.count_down(microseconds, reload), timer.value)
        };
        assert_eq!([2000, 3999].map(|late| after(late, Reload::IfLonger)), [(true, 2000), (true, 1)]);
        assert_eq!([4000, 9000].map(|late| after(late, Reload::IfLonger)), [(true, 0), (true, 0)]);
        assert_eq!([3999, 4000, 9000].map(|late| after(late, Reload::Always)), [(true, 1), (true, 3000), (true, 1000)]);
        let mut once = IntervalTimer { value: 1000, interval: 0 };
        assert_eq!((once.count_down(1000, Reload::Always), once.value), (true, 0));
    }

    #[test]
    fn a_timer_that_is_late_counts_what_it_missed() {
        let mut timer = Timer { deadline: Some(10), interval: 5, ..Timer::default() };
        assert_eq!((timer.expire(9), timer.expire(22), timer.deadline), (0, 3, Some(25)));
    }
}
