//! A number in the base and in the other profiles, and how large a change must be so that chance does not explain it.
//!
//! If a program is compared with itself, at most one of 1,000 comparisons may have a change that is no noise, whatever
//! the number of functions. So each change is tested at the level 1/1,000 divided by the number of changes
//! (Bonferroni's correction). Šidák's correction needs independent changes, and inclusive times depend on each other.

/// A number in the base and in the other profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The number in the base.
    pub old: f64,
    /// The number in the other profiles.
    pub new: f64,
    /// The standard error of the change; `None` if it is not known (estimated times), or the number is exact.
    pub error: Option<f64>,
    /// A change of fewer standard errors is noise.
    pub(super) limit: f64,
}

impl Change {
    /// A change of numbers that are exact, or whose errors are not known.
    pub(super) fn without_error(old: f64, new: f64) -> Change {
        Change { old, new, error: None, limit: 0.0 }
    }

    /// Returns the change.
    #[must_use]
    pub fn absolute(&self) -> f64 {
        self.new - self.old
    }

    /// Returns the change as a percentage of the number in the base; `None` if that number is 0.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        Some(100.0 * self.absolute() / self.old.abs()).filter(|_| self.old != 0.0)
    }

    /// Returns the change as a part of the larger number, from -1 for what is gone to 1 for what is new.
    #[must_use]
    pub fn part(&self) -> f64 {
        let larger = self.old.abs().max(self.new.abs());
        if larger > 0.0 { (self.absolute() / larger).clamp(-1.0, 1.0) } else { 0.0 }
    }

    /// Returns whether chance explains the change, because samples of an unchanged program may differ by as much:
    /// whether the change is smaller than [`Difference::noise_errors`](crate::Difference) standard errors, or those of
    /// the flame graph. `None` if the error is not known.
    #[must_use]
    pub fn is_noise(&self) -> Option<bool> {
        self.error.map(|error| self.absolute() == 0.0 || self.absolute().abs() < self.limit * error)
    }

    /// Whether the change may be more than noise: a number that is 0 on both sides has no change.
    fn is_tested(&self) -> bool {
        self.error.is_some() && (self.old != 0.0 || self.new != 0.0)
    }
}

/// What the calls of the two sides are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedCalls {
    /// Counted on both sides.
    Counted,
    /// Estimated on both sides. Those of a function are compared if they have intervals on both sides, or were counted
    /// on both.
    Estimated,
    /// Estimated on one side only, so that no calls are compared.
    Different,
}

/// What one side knows of a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Time {
    pub(super) time: f64,
    /// The square of the standard error, if it is known.
    pub(super) variance: Option<f64>,
    /// The variance for each unit of [`chance`]: the length of a sample, or less if functions share samples. 0 if the
    /// time is certain.
    pub(super) spread: f64,
}

/// The part of a time that is a matter of chance. If the time of the `whole` program is the same on both sides by
/// definition, what takes all of this time has no error.
pub(super) fn chance(time: f64, whole: Option<f64>) -> f64 {
    whole.filter(|whole| *whole > 0.0).map_or(time, |whole| time * (1.0 - time / whole).clamp(0.0, 1.0))
}

impl Time {
    /// A time that is 0 for certain.
    pub(super) const NONE: Time = Time { time: 0.0, variance: Some(0.0), spread: 0.0 };

    /// Returns the change between two times. The variances of independent times add up.
    ///
    /// Few long samples on one side tell little about their own variance: no sample, where four were expected, is no
    /// rare event. So the variance is at least the variance that two sides with the same time have.
    pub(super) fn change(base: Time, new: Time, whole: Option<f64>) -> Change {
        let variance = base.variance.zip(new.variance).map(|(of_base, of_new)| of_base + of_new);
        let error = variance.map(|variance| variance.max(Time::variance_if_equal(base, new, whole)).sqrt());
        Change { error, ..Change::without_error(base.time, new.time) }
    }

    /// Returns the sum of two times. Their errors add up, and not their variances, because the times may have samples
    /// in common.
    pub(super) fn with(self, other: Time) -> Time {
        let variance = self.variance.zip(other.variance).map(|(one, other)| (one.sqrt() + other.sqrt()).powi(2));
        Time { time: self.time + other.time, variance, spread: self.spread + other.spread }
    }

    /// Returns the variance of the change if both sides took the same time. The best estimate of this time is the mean
    /// of both sides, weighted by their certainty.
    fn variance_if_equal(base: Time, new: Time, whole: Option<f64>) -> f64 {
        let spread = base.spread + new.spread;
        let time = (base.time * new.spread + new.time * base.spread) / spread;
        if spread > 0.0 { chance(time, whole) * spread } else { 0.0 }
    }
}

/// The numbers of standard errors for 1, 2, 4, 8, … changes: for 2ⁿ changes, the quantile of the standard normal
/// distribution at 1 − 1/2000/2ⁿ, rounded up. Half of the level is for growth, and half for the opposite.
const LIMITS: [f64; 34] = [
    3.291, 3.481, 3.663, 3.837, 4.004, 4.165, 4.320, 4.471, 4.617, 4.759, 4.897, 5.031, 5.163, 5.291, 5.416, 5.539,
    5.659, 5.777, 5.893, 6.006, 6.117, 6.227, 6.335, 6.441, 6.545, 6.648, 6.749, 6.849, 6.948, 7.045, 7.141, 7.235,
    7.329, 7.421,
];

/// Sets the number of standard errors below which these changes are noise, and returns it.
pub(super) fn set_limit(changes: Vec<&mut Change>) -> f64 {
    let limit = limit(changes.iter().filter(|change| change.is_tested()).count());
    changes.into_iter().for_each(|change| change.limit = limit);
    limit
}

/// Returns the number of standard errors below which a change is noise, if so many changes are tested. Between two
/// entries of the table, the greater one counts.
fn limit(changes: usize) -> f64 {
    let power = changes.checked_next_power_of_two().unwrap_or(1 << (usize::BITS - 1)).trailing_zeros() as usize;
    LIMITS[power.min(LIMITS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(time: f64, error: f64) -> Time {
        Time { time, variance: Some(error * error), spread: 0.0 }
    }

    #[test]
    fn changes_below_the_limit_are_noise() {
        let limited = |base, new, limit| Change { limit, ..Time::change(base, new, None) };
        let change = limited(time(4.0, 3.0), time(14.0, 4.0), 2.0);
        assert_eq!((change.absolute(), change.percent(), change.error), (10.0, Some(250.0), Some(5.0)));
        assert_eq!((change.is_noise(), change.is_tested()), (Some(false), true));
        assert_eq!(Change { limit: 2.1, ..change }.is_noise(), Some(true));
        assert_eq!(limited(time(14.0, 4.0), time(4.5, 3.0), 2.0).is_noise(), Some(true));
        let zero = limited(time(0.0, 0.0), time(0.0, 0.0), 2.0);
        assert_eq!((zero.is_noise(), zero.is_tested()), (Some(true), false));
        let unknown = limited(Time { variance: None, ..Time::NONE }, time(1.0, 1.0), 2.0);
        assert_eq!((unknown.percent(), unknown.is_noise(), unknown.is_tested()), (None, None, false));
    }

    #[test]
    fn few_samples_do_not_tell_their_own_variance() {
        let samples = |count: f64, length: f64| Time {
            time: count * length,
            variance: Some(count.max(1.0) * length * length),
            spread: length,
        };
        let variance = |base, new, whole| Time::change(base, new, whole).error.unwrap().powi(2);
        let is_near = |one: f64, other: f64| (one - other).abs() < 1e-9 * other;
        // Samples of one length: as many samples as on both sides together.
        assert!(is_near(variance(samples(9.0, 0.5), samples(16.0, 0.5), None), 25.0 * 0.25));
        // No long sample, and 400 that are a hundredth as long. The long samples were expected four times.
        assert!(is_near(variance(samples(0.0, 1.0), samples(400.0, 0.01), None), 400.0 * 0.01));
        // More long samples than expected: their number counts.
        assert!(is_near(variance(samples(16.0, 1.0), samples(400.0, 0.01), None), 16.0 + 400.0 * 0.01 * 0.01));
        // All of 100 long samples, and 9,500 of 10,000: 9,505 of 10,100 short ones, and the error of such a share.
        let (all, most) = (Time { variance: Some(1.0), ..samples(100.0, 1.0) }, samples(9500.0, 0.01));
        let share = (100.0 * 0.01 + 95.0) / 1.01 / 100.0;
        assert!(is_near(
            variance(all, Time { variance: Some(0.01), ..most }, Some(100.0)),
            101.0 * share * (1.0 - share)
        ));
        // Times that may have samples in common.
        let both = samples(9.0, 1.0).with(samples(16.0, 1.0));
        assert_eq!((both.time, both.variance), (25.0, Some(49.0)));
        // A function that the base does not have.
        assert!(is_near(variance(Time::NONE, samples(9.0, 0.5), None), 9.0 * 0.25));
    }

    #[test]
    fn a_part_is_of_the_larger_number() {
        let part = |old, new| Change::without_error(old, new).part();
        assert_eq!([part(4.0, 16.0), part(16.0, 4.0), part(0.0, 0.25), part(0.25, 0.0)], [0.75, -0.75, 1.0, -1.0]);
        assert_eq!([part(0.0, 0.0), part(-4.0, 2.0), part(-0.5, -0.25)], [0.0, 1.0, 0.5]);
    }

    /// The part of the standard normal distribution beyond a value: the integral of the density by Simpson's rule.
    fn beyond(value: f64) -> f64 {
        const STEPS: u32 = 4000;
        let width = 10.0 / f64::from(STEPS);
        let density = |at: u32| (-(value + width * f64::from(at)).powi(2) / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let weight = |at: u32| match at {
            0 | STEPS => 1.0,
            _ if at % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=STEPS).map(|at| weight(at) * density(at)).sum::<f64>() * width / 3.0
    }

    #[test]
    fn the_table_has_quantiles_of_the_normal_distribution() {
        assert!((beyond(0.0) - 0.5).abs() < 1e-12 && (beyond(1.0) - 0.158_655_253_931_457).abs() < 1e-12);
        for (power, limit) in LIMITS.iter().enumerate() {
            let level = 1e-3 / 2.0 / 2.0_f64.powi(power as i32);
            assert!(beyond(*limit) <= level && beyond(limit - 0.001) > level, "2^{power}: {limit}");
        }
    }

    #[test]
    fn numbers_between_two_entries_have_the_greater_one() {
        assert_eq!([0, 1, 2, 3, 4, 5, 8, 9].map(limit), [0, 0, 1, 2, 2, 3, 3, 4].map(|at: usize| LIMITS[at]));
        assert_eq!([1 << 33, (1 << 33) + 1, usize::MAX].map(limit), [7.421; 3]);
    }
}
