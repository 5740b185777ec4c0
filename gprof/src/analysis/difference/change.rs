//! A number in the base and in the other profiles.

/// A change counts as noise if it is smaller than this number of its standard errors.
pub const NOISE_ERRORS: f64 = 2.0;

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
}

impl Change {
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

    /// Returns whether a difference between samples of the same program explains the change: whether it is smaller than two standard
    /// errors. `None` if the error is not known.
    #[must_use]
    pub fn is_noise(&self) -> Option<bool> {
        self.error.map(|error| self.absolute() == 0.0 || self.absolute().abs() < NOISE_ERRORS * error)
    }
}

/// What one side knows of a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Time {
    pub(super) time: f64,
    /// The square of the standard error, if it is known.
    pub(super) variance: Option<f64>,
}

impl Time {
    /// Returns the change between two times. The variances of independent times add up.
    pub(super) fn change(base: Time, new: Time) -> Change {
        let variance = base.variance.zip(new.variance).map(|(base, new)| base + new);
        Change { old: base.time, new: new.time, error: variance.map(f64::sqrt) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_below_two_errors_are_noise() {
        let time = |time, error: f64| Time { time, variance: Some(error * error) };
        let change = Time::change(time(4.0, 3.0), time(14.0, 4.0));
        assert_eq!((change.absolute(), change.percent(), change.error), (10.0, Some(250.0), Some(5.0)));
        assert_eq!(change.is_noise(), Some(false));
        assert_eq!(Time::change(time(14.0, 4.0), time(4.5, 3.0)).is_noise(), Some(true));
        assert_eq!(Time::change(time(0.0, 0.0), time(0.0, 0.0)).is_noise(), Some(true));
        let unknown = Time::change(Time { time: 0.0, variance: None }, time(1.0, 1.0));
        assert_eq!((unknown.percent(), unknown.is_noise()), (None, None));
    }
}
