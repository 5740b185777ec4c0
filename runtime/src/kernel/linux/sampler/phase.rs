//! The phase of timers: when a timer expires for the first time.
//!
//! Ticks must be a fair sample of the CPU time of all threads, however long each thread lives: the expected number of
//! ticks of a thread is its CPU time divided by the period. So the time to the first expiry differs from timer to
//! timer.

use super::rate::{kernel_tick, period};
use crate::ownership::start_time;

/// The times of the first expiries of a timer, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expiries {
    /// The time to the first expiry.
    pub(super) first: i64,
    /// The time from the moment at which the kernel notices the first expiry to the second expiry. 0 or less for timers
    /// of wall-clock time, and if the period is less than a tick: then the timer is not set again.
    pub(super) second: i64,
}

/// The first expiries of a timer for the thread or the process with this number.
#[inline(never)] // one copy serves all that start timers
pub(super) fn expiries(number: i32) -> Expiries {
    Expiries::of(turn_of(number), period(), kernel_tick())
}

/// A number of 32 bits for the thread or the process with this number. Each number of 32 bits is equally likely.
pub(super) fn turn_of(number: i32) -> u32 {
    turn(number, start_time())
}

/// A number of 32 bits that differs from timer to timer. The system counts up the numbers of threads and processes, and
/// multiples of the golden ratio spread such numbers evenly. In a container, each run of a program may have the same
/// process number, so the start time of the run counts too.
fn turn(number: i32, start: u64) -> u32 {
    const GOLDEN_RATIO: u32 = 0x9e37_79b9;
    (number as u32).wrapping_mul(GOLDEN_RATIO).wrapping_add(start as u32)
}

impl Expiries {
    /// The first expiry is after the part `turn / 2^32` of a period, rounded down to ticks of the kernel.
    ///
    /// Timers of wall-clock time expire when they are due: the first expiry is at any time of the period. A timer of
    /// CPU time expires at the first tick of the kernel that meets the thread after the timer's time. A time that is a
    /// whole number of the kernel's ticks gives each of these ticks the same chance: one of `period / kernel_tick`
    /// threads expires at the first tick that meets it, one at the second tick, and so on. The moment of the tick does
    /// not matter, nor whether more ticks ever meet the thread.
    ///
    /// Without rounding, expiry number n is due after `n + turn / 2^32` periods. The kernel must notice the expiry at
    /// its last tick before that time. Number 0 is rounded down, which is right. The later times count from the tick
    /// that noticed number 0, so the moment of the ticks does not matter. The kernel notices an expiry at the next
    /// tick, so each later expiry is set one tick before it is due.
    ///
    /// Without the second time, a thread that lives for about a period would have too few ticks, by a tenth for 100
    /// samples per second and 250 ticks of the kernel.
    fn of(turn: u32, period: i64, kernel_tick: i64) -> Expiries {
        let within = ((period >> 8) * i64::from(turn)) >> 24;
        let rest = within.checked_rem(kernel_tick).unwrap_or(0);
        // A timer that is set to 0 is stopped.
        let first = (within - rest).max(1);
        Expiries { first, second: if kernel_tick == 0 { 0 } else { period + rest - kernel_tick } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: i64 = 1_000_000;

    /// The ticks of threads that each live for `life`, for each thread. The kernel's tick meets each thread at another
    /// moment.
    fn ticks_of_lives(life: i64, period: i64, kernel_tick: i64) -> f64 {
        const THREADS: i32 = 20_000;
        let ticks: i64 = (0..THREADS)
            .map(|number| {
                let Expiries { first, second } = Expiries::of(turn(number, 0), period, kernel_tick);
                // As if the threads began at any time between two ticks of the kernel.
                let meets = kernel_tick * i64::from(number * 7919 % THREADS) / i64::from(THREADS);
                let last_look = if life < meets { -1 } else { life - (life - meets) % kernel_tick };
                let noticed = first + (meets - first).rem_euclid(kernel_tick);
                if last_look < noticed {
                    return 0;
                }
                match second {
                    ..=0 => (last_look - first) / period + 1,
                    second if last_look < noticed + second => 1,
                    second => (last_look - noticed - second) / period + 2,
                }
            })
            .sum();
        ticks as f64 / f64::from(THREADS)
    }

    #[test]
    fn the_expected_number_of_ticks_is_the_life_over_the_period() {
        for (rate, kernel_rate) in [(100, 250), (250, 250), (100, 100), (100, 1000), (250, 1000), (40, 300), (150, 250)]
        {
            let [period, kernel_tick] = [rate, kernel_rate].map(|rate| 1_000_000_000 / rate);
            let lives = [1, 6, 60, 140, 210, 280, 400, 20_000].map(|part| part * MILLISECOND / 20);
            for life in lives {
                let expected = life as f64 / period as f64;
                let found = ticks_of_lives(life, period, kernel_tick);
                let limit = 0.02 * expected.min(1.0) + 0.001;
                assert!((found - expected).abs() <= limit, "{rate} of {kernel_rate}: {life}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn no_timer_expires_before_it_is_set_and_each_within_a_period() {
        for number in 0..10_000 {
            for (period, kernel_tick) in
                [(10 * MILLISECOND, 4 * MILLISECOND), (1000 * MILLISECOND, 0), (MILLISECOND, 4 * MILLISECOND)]
            {
                let Expiries { first, .. } = Expiries::of(turn(number, u64::MAX), period, kernel_tick);
                assert!((1..period).contains(&first), "{first}");
                assert!(kernel_tick == 0 || first == 1 || first % kernel_tick == 0, "{first}");
            }
        }
    }

    #[test]
    fn timers_of_wall_clock_time_expire_at_any_time_of_the_period() {
        let sum: i64 = (0..10_000).map(|number| Expiries::of(turn(number, 0), 10 * MILLISECOND, 0).first).sum();
        assert!((sum - 10_000 * 5 * MILLISECOND).abs() < 10_000 * MILLISECOND / 100, "{sum}");
    }

    #[test]
    fn runs_with_the_same_number_differ() {
        assert_ne!(turn(1, 1_000_000_007), turn(1, 2_000_000_014));
    }
}
