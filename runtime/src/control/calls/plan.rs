//! When windows open and close: one window at a random place in each of many stretches of the sampled time.

/// The least length of a window in nanoseconds, unless a tick is longer.
const LEAST_WINDOW: u64 = 10_000_000;
/// Opening and closing windows may take this part of the time: one nanosecond of so many.
const TIME_FOR_ONE_OF_COST: u64 = 500;
/// A million millionths: the whole time.
const WHOLE: u64 = 1_000_000;

/// What is due at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Open,
    Close,
}

/// When windows open and close. The unit of time is a tick of the sampler: ticks come while the program uses CPU time,
/// so they interrupt no system call, and the windows are spread over the work of the program. Zeros plan nothing.
#[derive(Default)]
pub(super) struct Plan {
    /// The part of the time that the windows cover, in millionths; 0 for no windows.
    share: u64,
    /// The nanoseconds of a tick.
    period: u64,
    /// The state of the random numbers, which is not 0.
    random: u64,
    /// The first tick after the current stretch.
    end: u64,
    opens: u64,
    closes: u64,
    /// The length of the current stretch in ticks.
    stretch: u64,
    pub(super) is_open: bool,
    /// The CPU time that a window took to open and to close: the highest, of which a quarter is forgotten with each
    /// window.
    cost: u64,
}

impl Plan {
    /// Plans windows that cover this part of the time, in millionths, with ticks of `period` nanoseconds, from the tick
    /// `now` on. `seed` makes the places of the windows random.
    pub(super) fn begin(&mut self, share: u64, period: u64, seed: u64, now: u64) {
        let share = share.clamp(1, WHOLE / 2);
        *self = Plan { share, period: period.max(1), random: seed | 1, end: now, ..Plan::default() };
        self.next(now);
    }

    /// Whether windows are planned.
    pub(super) fn is_some(&self) -> bool {
        self.share > 0
    }

    /// The part of the time that the windows cover, in millionths.
    pub(super) fn share(&self) -> u64 {
        self.share
    }

    /// The length of the current stretch in ticks.
    pub(super) fn stretch(&self) -> u64 {
        self.stretch
    }

    /// The nanoseconds of a tick.
    pub(super) fn period(&self) -> u64 {
        self.period
    }

    /// The tick at which something is due next.
    pub(super) fn due(&self) -> u64 {
        if self.is_open { self.closes } else { self.opens }
    }

    /// What is due at the tick `now`.
    pub(super) fn step(&mut self, now: u64) -> Option<Step> {
        if !self.is_some() || now < self.due() {
            return None;
        }
        if self.is_open {
            return Some(Step::Close);
        }
        // The length of a window stays when the window opens late.
        let late = now - self.opens;
        self.closes = self.closes.saturating_add(late);
        Some(Step::Open)
    }

    /// Says that the window is closed, or could not be opened, at the tick `now`, and what it cost in nanoseconds of
    /// CPU time.
    pub(super) fn close(&mut self, now: u64, cost: u64) {
        self.is_open = false;
        // One dear window, such as the first one, does not make all others rare. Each stretch has room for the cost of
        // the window before.
        self.cost = cost.max(self.cost - self.cost / 4);
        self.next(now);
    }

    /// Plans the next stretch, which does not begin before the tick `now`.
    fn next(&mut self, now: u64) {
        let least = LEAST_WINDOW.div_ceil(self.period.max(1));
        let by_share = least.saturating_mul(WHOLE) / self.share.max(1);
        let by_cost = self.cost.saturating_mul(TIME_FOR_ONE_OF_COST) / self.period.max(1);
        self.stretch = by_share.max(by_cost).max(1);
        let window = (self.stretch.saturating_mul(self.share) / WHOLE).max(least);
        let begin = self.end.max(now);
        // The last place is that of a window which closes when the stretch ends.
        let places = self.stretch.saturating_sub(window).saturating_add(1);
        self.opens = begin.saturating_add(self.random() % places.max(1));
        self.closes = self.opens.saturating_add(window);
        self.end = begin.saturating_add(self.stretch);
    }

    /// The next random number: xorshift64*, by S. Vigna.
    fn random(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ticks at which windows open and close, of `ticks` ticks, when each window costs so much.
    fn windows(share: u64, period: u64, cost: u64, ticks: u64) -> Vec<(u64, u64)> {
        let (mut plan, mut all, mut opened) = (Plan::default(), Vec::new(), 0);
        plan.begin(share, period, 7, 0);
        for now in 1..ticks {
            match plan.step(now) {
                Some(Step::Open) => (plan.is_open, opened) = (true, now),
                Some(Step::Close) => {
                    all.push((opened, now));
                    plan.close(now, cost);
                }
                None => {}
            }
        }
        all
    }

    #[test]
    fn windows_cover_the_share_and_lie_anywhere_in_their_stretches() {
        for (share, period, length, stretch) in
            [(10_000, 10_000_000, 1, 100), (100_000, 4_000_000, 3, 30), (10_000, 1_000_000, 10, 1000)]
        {
            let ticks = stretch * 2000;
            let all = windows(share, period, 0, ticks);
            assert!(all.iter().all(|(opened, closed)| closed - opened == length), "{all:?}");
            assert!((1980..=2000).contains(&all.len()), "{}", all.len());
            // Each place within the stretch is as likely as any other: a tenth of 2,000 windows in each tenth of the
            // places where a window ends within the stretch.
            let (mut tenths, places) = ([0; 10], stretch - length + 1);
            all.iter().for_each(|(opened, _)| tenths[(opened % stretch * 10 / places) as usize] += 1);
            assert!(tenths.iter().all(|number| (120..=280).contains(number)), "{tenths:?}");
        }
    }

    #[test]
    fn dear_windows_are_longer_and_rarer() {
        // 4 ms for a window: a stretch of 2 s for each, behind a first stretch of 1 s.
        let all = windows(10_000, 10_000_000, 4_000_000, 40_000);
        assert!((195..=201).contains(&all.len()), "{}", all.len());
        assert!(all.iter().skip(1).all(|(opened, closed)| closed - opened == 2), "{all:?}");
    }

    /// Fails if the cost of one window is forgotten at once, if it is never forgotten, or if the windows cost more than
    /// their part of the time.
    #[test]
    fn a_single_dear_window_is_forgotten() {
        let (mut plan, mut lengths) = (Plan::default(), Vec::new());
        plan.begin(10_000, 10_000_000, 7, 0);
        for cost in [8_000_000, 1000, 1000, 1000, 1000, 1000, 1000] {
            let now = plan.due();
            plan.close(now, cost);
            lengths.push(plan.stretch());
        }
        assert_eq!(lengths, [400, 300, 225, 168, 126, 100, 100]);
    }

    #[test]
    fn a_late_tick_moves_the_window() {
        let mut plan = Plan::default();
        assert_eq!(plan.step(u64::MAX), None);
        plan.begin(10_000, 10_000_000, 7, 0);
        assert_eq!(plan.step(plan.due() + 250), Some(Step::Open));
        plan.is_open = true;
        let closes = plan.due();
        assert_eq!((plan.step(closes - 1), plan.step(closes)), (None, Some(Step::Close)));
        plan.close(closes, 0);
        assert!((closes..closes + 100).contains(&plan.due()), "{} after {closes}", plan.due());
    }
}
