//! The calls that windows have seen, and the estimates that follow for the whole time.
//!
//! Each window lies in a stretch of its own, and `z` is the number of calls in the stretch, estimated from the window.
//! The variance of the sum of all `z` follows from the differences between the `z` of consecutive windows. A difference
//! tells how much chance there is in two windows, and contains little of what changes slowly. Slow changes must not
//! count: each stretch has a window, so chance does not decide how many windows fall into a phase of the program.

use core::{mem, ptr, slice};

use gmon::layout::RawArc;

use super::ratio::{Ratio, divide};
use crate::os::{map, unmap};

/// The nanoseconds of a microsecond.
const NANOSECONDS: u64 = 1000;
/// The nanoseconds that the counting of one call takes at most, on average. No error of an estimate is larger than this
/// allows.
const LONGEST_COUNTING: u64 = 10;
/// Counting also makes the code around it slower or faster, which no tick shows: instructions wait for each other, and
/// caches are shared. The standard error from that is the time of counting, divided by this number. In real programs,
/// counting took between 0.6 and 1.5 times the time that ticks showed (tests/windows.sh).
const AROUND_COUNTING: u64 = 3;
/// The largest part of a window in which calls are counted, in units of [`Ratio`].
const MOST_COUNTING: u64 = Ratio::ONE / 8 * 7;

/// What the windows have seen of the calls from one caller to a function, or of all calls of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The place of the function.
    pub(super) callee: usize,
    /// The place of the caller and 1; 0 for all callers.
    pub(super) caller: usize,
    /// The number of windows that have seen calls.
    windows: u64,
    /// The sum of the calls of the stretches, each estimated from its window.
    calls: u64,
    /// The number of the last window that has seen calls: the first window has the number 1.
    last_window: u64,
    /// The calls of the stretch of that window.
    last_calls: u64,
    /// The sum of the squared differences between the calls of consecutive stretches, up to that window.
    squares: u128,
    /// The sum of the calls of the stretches, each times the calls of all functions for each microsecond of its window.
    crowded: u128,
}

/// Ticks of the sampler while windows were open: they tell how long the counting itself took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WindowTicks {
    pub(super) all: u64,
    /// Those that interrupted the code that counts.
    pub(super) counting: u64,
}

/// An estimate for the whole time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    pub(super) windows: u64,
    pub(super) calls: u64,
    pub(super) variance: u128,
}

/// What the windows have seen, sorted by called function and caller. Zeros have seen nothing.
pub(super) struct Estimates {
    start: *mut Seen,
    length: usize,
    capacity: usize,
    /// The number of windows.
    pub(super) windows: u64,
    /// The length of all windows in nanoseconds of CPU time.
    pub(super) window_time: u64,
    /// The calls of all functions in all windows.
    calls: u64,
    /// The length of their stretches in ticks.
    stretches: u64,
    /// The length of the last stretch in ticks.
    last_stretch: u64,
    /// The calls that were lost for lack of memory.
    pub(super) lost: u64,
}

/// A window that has closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The length of the window in nanoseconds of CPU time.
    pub(super) time: u64,
    /// The length of its stretch in ticks.
    pub(super) stretch: u64,
    /// The nanoseconds of a tick.
    pub(super) period: u64,
}

impl Seen {
    /// A row that has seen nothing.
    fn new(callee: usize, caller: usize) -> Seen {
        Seen { callee, caller, windows: 0, calls: 0, last_window: 0, last_calls: 0, squares: 0, crowded: 0 }
    }

    /// Adds the calls of the stretch of a window, which has a higher number than all before. The windows between have
    /// seen no calls. `longer` is how many times longer the stretch is than the stretch before: a function that is
    /// called steadily has so many more calls.
    /// `crowd` is the number of calls of all functions for each microsecond of the window.
    fn add(&mut self, window: u64, calls: u64, longer: Ratio, crowd: Ratio) {
        // The first window differs from none before.
        if window > 1 {
            let before = if self.last_window + 1 == window { longer.times(self.last_calls) } else { 0 };
            self.squares = self.squares_up_to(window - 1).saturating_add(square(calls.abs_diff(before)));
        }
        self.windows += 1;
        self.calls = self.calls.saturating_add(calls);
        self.crowded = self.crowded.saturating_add(u128::from(crowd.times(calls)));
        (self.last_window, self.last_calls) = (window, calls);
    }

    /// The sum of the squared differences up to a window which is not before the last one with calls.
    fn squares_up_to(&self, window: u64) -> u128 {
        let end = if window > self.last_window { square(self.last_calls) } else { 0 };
        self.squares.saturating_add(end)
    }
}

fn square(number: u64) -> u128 {
    u128::from(number) * u128::from(number)
}

impl Window {
    /// How many times longer than the window its stretch is, as a [`Ratio`].
    fn ratio(self) -> Ratio {
        Ratio::of(self.stretch.saturating_mul(self.period), self.time)
    }
}

impl Estimates {
    pub(super) fn all(&self) -> &[Seen] {
        // SAFETY: the memory has that many rows, and one thread at a time uses them.
        if self.length == 0 { &[] } else { unsafe { slice::from_raw_parts(self.start, self.length) } }
    }

    fn all_mut(&mut self) -> &mut [Seen] {
        // SAFETY: as above.
        if self.length == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(self.start, self.length) } }
    }

    /// Adds what a window has seen: calls by called function and caller, sorted, each pair once.
    pub(super) fn add(&mut self, window: Window, calls: &[RawArc]) {
        let new = self.each_key(calls, |seen| usize::from(seen.is_none()));
        if !self.has_room(new) {
            // The other windows stand for the whole time.
            self.lost = self.lost.saturating_add(calls.iter().map(|row| row.raw_count as u64).sum());
            return;
        }
        self.windows += 1;
        self.window_time = self.window_time.saturating_add(window.time);
        self.stretches = self.stretches.saturating_add(window.stretch);
        let longer = Ratio::of(window.stretch, mem::replace(&mut self.last_stretch, window.stretch));
        let in_window = calls.iter().fold(0_u64, |sum, row| sum.saturating_add(row.raw_count as u64));
        self.calls = self.calls.saturating_add(in_window);
        let crowd = Ratio::of(in_window.saturating_mul(NANOSECONDS), window.time);
        self.insert(calls, new);
        let (number, ratio) = (self.windows, window.ratio());
        let all = self.all_mut();
        let mut at = 0;
        let mut left = calls;
        while let Some((of_function, others)) = split_function(left) {
            left = others;
            let callee = of_function.first().map_or(0, |row| row.raw_selfpc);
            let total = of_function.iter().map(|row| row.raw_count as u64).sum();
            let rows = of_function.iter().map(|row| (row.raw_frompc.wrapping_add(1), row.raw_count as u64));
            for (caller, count) in [(0, total)].into_iter().chain(rows) {
                while all.get(at).is_some_and(|seen| (seen.callee, seen.caller) < (callee, caller)) {
                    at += 1;
                }
                if let Some(seen) = all.get_mut(at).filter(|_| count > 0) {
                    seen.add(number, ratio.times(count), longer, crowd);
                }
            }
        }
    }

    /// Adds up what `number` says of the known row of each key of `calls`.
    fn each_key(&self, calls: &[RawArc], number: impl Fn(Option<&Seen>) -> usize) -> usize {
        let (mut at, mut sum, all) = (0, 0, self.all());
        for_each_key(calls, |callee, caller| {
            while all.get(at).is_some_and(|seen| (seen.callee, seen.caller) < (callee, caller)) {
                at += 1;
            }
            let known = all.get(at).filter(|seen| (seen.callee, seen.caller) == (callee, caller));
            sum += number(known);
        });
        sum
    }

    /// Makes room for further rows. The result is false if there is no memory.
    fn has_room(&mut self, more: usize) -> bool {
        let needed = self.length + more;
        if needed <= self.capacity {
            return true;
        }
        let capacity = needed.max(self.capacity * 2).max(1024);
        let new: *mut Seen = map(capacity * size_of::<Seen>()).cast();
        if new.is_null() {
            return false;
        }
        let (before, size) = (self.start, self.capacity * size_of::<Seen>());
        // SAFETY: there is room for more rows than there are, in other memory.
        unsafe { ptr::copy_nonoverlapping(before, new, self.length) };
        // A child that is forked in between has the new memory already.
        (self.start, self.capacity) = (new, capacity);
        if size > 0 {
            // SAFETY: the memory of before was mapped here, and nobody else uses it.
            unsafe { unmap(before.cast(), size) };
        }
        true
    }

    /// Inserts rows for the keys that have none: `new` rows, for which there is room. Rows move from the last one on,
    /// so each row moves once.
    fn insert(&mut self, calls: &[RawArc], new: usize) {
        if new == 0 {
            return;
        }
        let mut from = self.length;
        self.length += new;
        let mut to = self.length;
        let mut put = |all: &mut [Seen], seen: Seen| {
            to -= 1;
            if let Some(place) = all.get_mut(to) {
                *place = seen;
            }
        };
        let all = {
            // SAFETY: there is room for these rows; those behind the former length are written below before they are
            // read, because as many keys are new.
            unsafe { slice::from_raw_parts_mut(self.start, self.length) }
        };
        for_each_key_from_last(calls, |callee, caller| {
            while let Some(seen) = from.checked_sub(1).and_then(|last| all.get(last).copied())
                && (seen.callee, seen.caller) > (callee, caller)
            {
                from -= 1;
                put(all, seen);
            }
            let is_known = from
                .checked_sub(1)
                .and_then(|last| all.get(last))
                .is_some_and(|seen| (seen.callee, seen.caller) == (callee, caller));
            if !is_known {
                put(all, Seen::new(callee, caller));
            }
        });
    }

    /// The estimate for the whole time of `ticks` ticks. The program is slower while its calls are counted, so a window
    /// has fewer calls than as much of the other time.
    pub(super) fn estimate(&self, seen: &Seen, ticks: u64, in_windows: WindowTicks) -> Estimate {
        let Estimate { windows, calls, variance } = self.of_windows(seen, ticks);
        let (part, error) = self.counting(seen, in_windows);
        let faster = Ratio::of(Ratio::ONE, Ratio::ONE - part);
        let calls = faster.times(calls);
        let of_part = faster.times(Ratio(error).times(calls));
        let variance = faster.squared_times(variance).saturating_add(square(of_part));
        Estimate { windows, calls, variance }
    }

    /// The part of the windows with the calls of a row in which calls were counted, and the standard error of that
    /// part, both in units of [`Ratio`]. The part is larger in windows with more calls.
    fn counting(&self, seen: &Seen, WindowTicks { all, counting }: WindowTicks) -> (u64, u64) {
        let crowd = Ratio::of(self.calls.saturating_mul(NANOSECONDS), self.window_time).0;
        // One tick more keeps a few ticks from multiplying the calls.
        let part = Ratio::of(counting.min(all), all.saturating_add(1)).0;
        // As of two more ticks of each kind (A. Agresti and B. Coull): without them, a part that is too small by chance
        // has an error that is too small.
        let middle = Ratio::of(counting.min(all).saturating_add(2), all.saturating_add(4)).0;
        let error = (middle * (Ratio::ONE - middle.min(Ratio::ONE)) / all.saturating_add(4).max(1)).isqrt();
        let error = error.min(crowd.saturating_mul(LONGEST_COUNTING) / NANOSECONDS);
        // How many times more calls these windows have than others.
        let of_row = u64::try_from(
            (seen.crowded << Ratio::FRACTION.min(seen.crowded.leading_zeros())).min(u128::from(u64::MAX)),
        )
        .unwrap_or(u64::MAX)
            / seen.calls.max(1);
        let more = Ratio::of(of_row, crowd);
        let part = more.times(part).min(MOST_COUNTING);
        let around = part / AROUND_COUNTING;
        let error = more.times(error).min(Ratio::ONE);
        (part, (error * error + around * around).isqrt())
    }

    /// The estimate for the whole time, as if counting took no time.
    fn of_windows(&self, seen: &Seen, ticks: u64) -> Estimate {
        let ratio = Ratio::of(ticks, self.stretches);
        // Half of the mean squared difference is the variance of one stretch.
        let squares = u128::from(self.windows).saturating_mul(seen.squares_up_to(self.windows));
        let variance = ratio.squared_times(divide(squares, self.windows.saturating_sub(1)) / 2);
        Estimate { windows: seen.windows, calls: ratio.times(seen.calls), variance }
    }

    /// Forgets everything, and keeps the memory.
    pub(super) fn clear(&mut self) {
        (self.length, self.windows, self.window_time, self.lost) = (0, 0, 0, 0);
        (self.stretches, self.last_stretch, self.calls) = (0, 0, 0);
    }
}

/// Splits the rows of the first function from those of the others. `chunk_by` of slices contains a panic.
fn split_function(calls: &[RawArc]) -> Option<(&[RawArc], &[RawArc])> {
    let first = calls.first()?;
    let length = calls.iter().take_while(|row| row.raw_selfpc == first.raw_selfpc).count();
    Some((calls.get(..length)?, calls.get(length..)?))
}

/// Passes the keys of the rows of `calls` to `each`: the called function and all callers, and then each caller.
fn for_each_key(calls: &[RawArc], mut each: impl FnMut(usize, usize)) {
    let mut left = calls;
    while let Some((of_function, others)) = split_function(left) {
        left = others;
        if let Some(row) = of_function.first() {
            each(row.raw_selfpc, 0);
        }
        of_function.iter().for_each(|row| each(row.raw_selfpc, row.raw_frompc.wrapping_add(1)));
    }
}

/// As [`for_each_key`], from the last key to the first.
fn for_each_key_from_last(calls: &[RawArc], mut each: impl FnMut(usize, usize)) {
    for (at, row) in calls.iter().enumerate().rev() {
        each(row.raw_selfpc, row.raw_frompc.wrapping_add(1));
        let before = at.checked_sub(1).and_then(|before| calls.get(before));
        if before.is_none_or(|before| before.raw_selfpc != row.raw_selfpc) {
            each(row.raw_selfpc, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimates() -> Box<Estimates> {
        // SAFETY: zeros are valid.
        unsafe { Box::new_zeroed().assume_init() }
    }

    const WINDOW: Window = Window { time: 10_000_000, stretch: 100, period: 10_000_000 };

    fn row(callee: usize, caller: usize, count: u64) -> RawArc {
        RawArc { raw_frompc: caller, raw_selfpc: callee, raw_count: count as isize }
    }

    fn of(estimates: &Estimates, ticks: u64) -> Vec<(usize, usize, u64, u64, u128)> {
        let estimate = |seen: &Seen| {
            let Estimate { windows, calls, variance } = estimates.of_windows(seen, ticks);
            (seen.callee, seen.caller, windows, calls, variance)
        };
        estimates.all().iter().map(estimate).collect()
    }

    #[test]
    fn what_each_window_has_seen_stands_for_its_stretch() {
        let mut estimates = estimates();
        estimates.add(WINDOW, &[row(20, 5, 3)]);
        estimates.add(WINDOW, &[row(10, 4, 1), row(20, 5, 1), row(20, 7, 4)]);
        estimates.add(WINDOW, &[]);
        // Calls of three windows, of a hundredth of 300 ticks. The variance is three times a quarter of the squared
        // differences of 300, 500, and 0.
        let few = 3 * (100 * 100 + 100 * 100) / 4;
        let expected = [
            (10, 0, 1, 100, few),
            (10, 5, 1, 100, few),
            (20, 0, 2, 800, 3 * (200 * 200 + 500 * 500) / 4),
            (20, 6, 2, 400, 3 * (200 * 200 + 100 * 100) / 4),
            (20, 8, 1, 400, 3 * (400 * 400 + 400 * 400) / 4),
        ];
        let found = of(&estimates, 300);
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!((found.0, found.1, found.2, found.3), (expected.0, expected.1, expected.2, expected.3));
            assert!(found.4.abs_diff(expected.4) <= 2, "{found:?} {expected:?}");
        }
        assert_eq!(found.len(), 5);
        // Twice the time has twice the calls, and four times the variance.
        let twice = of(&estimates, 600);
        assert!(found.iter().zip(&twice).all(|(one, two)| 2 * one.3 == two.3 && two.4.abs_diff(4 * one.4) <= 8));
        assert_eq!((estimates.windows, estimates.window_time, estimates.lost), (3, 30_000_000, 0));
    }

    /// Fails if windows without calls are left out of the differences, or if the variance has the height of a phase.
    #[test]
    fn the_variance_is_that_of_consecutive_windows() {
        let counts: [&[u64]; 5] = [
            &[0, 0, 7, 9, 8, 0, 0, 0, 5, 0],
            &[7, 0, 0, 0, 0, 0, 0, 0, 0, 3],
            &[0, 4, 0, 0, 0, 0, 0, 0, 0, 0],
            &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
            &[5; 10],
        ];
        for counts in counts {
            let mut estimates = estimates();
            for count in counts {
                let rows = [row(7, 1, *count)];
                estimates.add(WINDOW, if *count > 0 { &rows } else { &[] });
            }
            let differences = counts.windows(2).map(|pair| (100 * pair[0].abs_diff(pair[1])).pow(2));
            let expected = u128::from(10 * differences.sum::<u64>() / (2 * 9));
            for (_, _, seen, calls, variance) in of(&estimates, 1000) {
                assert_eq!(seen, counts.iter().filter(|count| **count > 0).count() as u64);
                assert_eq!(calls, 100 * counts.iter().sum::<u64>());
                assert!(variance.abs_diff(expected) <= 2, "{variance} {expected}: {counts:?}");
            }
        }
    }

    #[test]
    fn windows_of_other_lengths_count_by_their_length() {
        let mut estimates = estimates();
        estimates.add(Window { time: 20_000_000, ..WINDOW }, &[row(1, 1, 20)]);
        estimates.add(Window { time: 5_000_000, ..WINDOW }, &[row(1, 1, 5)]);
        assert_eq!(of(&estimates, 200), [(1, 0, 2, 2000, 0), (1, 2, 2, 2000, 0)]);
    }

    /// Fails if the time of counting passes for the program's, if functions that are called among many others and among
    /// few have the same correction, or if the error of the correction is forgotten.
    #[test]
    fn the_time_of_counting_is_not_the_programs() {
        let mut estimates = estimates();
        // 10 and 30 calls of all functions for each microsecond: counting takes a sixth and a half of the windows.
        for _ in 0..50 {
            estimates.add(WINDOW, &[row(1, 1, 1000), row(2, 1, 99_000)]);
            estimates.add(WINDOW, &[row(2, 1, 299_000), row(3, 1, 1000)]);
        }
        let in_windows = WindowTicks { all: 299, counting: 100 };
        let of = |callee| estimates.all().iter().find(|seen| seen.callee == callee).unwrap();
        for (callee, part) in [(1, 1.0 / 6.0), (3, 0.5)] {
            let Estimate { calls, variance, .. } = estimates.estimate(of(callee), 10_000, in_windows);
            let plain = estimates.of_windows(of(callee), 10_000);
            assert!((calls as f64 / (plain.calls as f64 / (1.0 - part)) - 1.0).abs() < 1e-4, "{calls} {plain:?}");
            let error = part * 3.0 * (102.0 * 201.0 / 303.0_f64.powi(2) / 303.0).sqrt() / (1.0 - part);
            let error = error.hypot(part / AROUND_COUNTING as f64 / (1.0 - part));
            let expected = plain.variance as f64 / (1.0 - part).powi(2) + (error * calls as f64).powi(2);
            assert!((variance as f64 / expected - 1.0).abs() < 1e-3, "{variance} {expected}");
        }
        // Without ticks in the code that counts, few calls can take little time.
        let none = estimates.estimate(of(3), 10_000, WindowTicks { all: 3, counting: 0 });
        assert_eq!(none.calls, estimates.of_windows(of(3), 10_000).calls);
        assert!(none.variance > estimates.of_windows(of(3), 10_000).variance);
    }

    /// Fails if the lengths of stretches pass for chance.
    #[test]
    fn steady_calls_in_stretches_of_other_lengths_have_no_variance() {
        let mut estimates = estimates();
        for stretch in [100, 400, 300, 225] {
            estimates.add(Window { stretch, ..WINDOW }, &[row(1, 1, 20)]);
        }
        assert_eq!(of(&estimates, 1025), [(1, 0, 4, 20_500, 0), (1, 2, 4, 20_500, 0)]);
    }

    #[test]
    fn rows_stay_sorted_and_single() {
        let mut estimates = estimates();
        let mut random = 1_u64;
        let mut expected = std::collections::BTreeMap::new();
        for _ in 0..50 {
            let mut calls = std::collections::BTreeMap::new();
            for _ in 0..200 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let key = ((random >> 40) as usize % 100, (random >> 50) as usize % 100);
                *calls.entry(key).or_insert(0) += 1;
            }
            let rows: Vec<_> = calls.iter().map(|((first, second), count)| row(*first, *second, *count)).collect();
            estimates.add(WINDOW, &rows);
            for ((callee, caller), count) in calls {
                *expected.entry((callee, caller + 1)).or_insert(0) += count * 100;
                *expected.entry((callee, 0)).or_insert(0) += count * 100;
            }
        }
        let found: Vec<_> = estimates.all().iter().map(|seen| ((seen.callee, seen.caller), seen.calls)).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        estimates.clear();
        assert!(estimates.all().is_empty());
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let mut estimates = estimates();
        for _ in 0..3 {
            estimates.add(Window { time: 1, stretch: u64::MAX, period: u64::MAX }, &[row(1, 5, i64::MAX as u64)]);
        }
        assert!(of(&estimates, u64::MAX).iter().all(|row| row.2 == 3 && row.4 < u128::MAX));
    }
}
