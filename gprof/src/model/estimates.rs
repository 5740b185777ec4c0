//! Estimates of calls with their intervals.
//!
//! The variance of an estimate follows from the differences between the numbers of calls in consecutive windows; the
//! runtime computes the variance, and docs/on-demand.md has the formula. The 95 % interval of an estimate `e` with the
//! standard error `s` is `e - d` to `e + d`, where `d = e * (exp(t * s / e) - 1)`: the upper end is that of an
//! interval of the logarithm. `t` is the 0.975 quantile of Student's t distribution with one degree of freedom less
//! than the number of windows in which calls were seen, because only these windows tell how much windows with calls
//! differ.
//!
//! `e - t * s` to `e + t * s` would be too short where calls come in bursts: the few windows that catch a burst seldom
//! catch one of the largest, and then both the estimate and its error are too small. Where many windows saw calls, both
//! intervals are the same. gprof/tests/all/estimates compares intervals with the truth.

use std::collections::HashMap;

use crate::program::symbols::functions::FunctionId;

/// An estimated number of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallEstimate {
    /// The estimated number of calls during the whole time; 0 if no window saw a call.
    pub calls: u64,
    /// The least and the most calls, which the true number lies between in 95 of 100 cases. `None` if fewer than five
    /// windows saw calls.
    pub interval: Option<(u64, u64)>,
    /// The standard error of the number.
    pub error: f64,
    /// The number of windows in which calls were seen, or more if the calls have several callers or functions.
    pub seen: u64,
    /// The number of windows.
    pub windows: u64,
}

/// An estimate has an interval if this many windows saw calls. From fewer, nothing is known of how windows differ.
const LEAST_SEEN: u64 = 5;

impl CallEstimate {
    /// Makes an estimate from a number of calls with its variance, of which calls were seen in some windows.
    pub(super) fn new(sum: Sum, windows: u64) -> CallEstimate {
        let Sum { calls, variance, seen } = sum;
        let error = variance.max(0.0).sqrt();
        let interval = (seen >= LEAST_SEEN && calls > 0.0).then(|| {
            let distance = calls * (quantile(seen - 1) * error / calls).exp_m1();
            // Each window with calls had a call.
            let least = (calls - distance).floor().max(seen as f64).min(calls);
            (least as u64, (calls + distance).ceil() as u64)
        });
        CallEstimate { calls: calls as u64, interval, error, seen, windows }
    }

    /// Returns the distance of the farther end of the interval, in percent of the number of calls.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let (least, most) = self.interval?;
        let distance = most.saturating_sub(self.calls).max(self.calls.saturating_sub(least));
        Some(100.0 * distance as f64 / self.calls.max(1) as f64)
    }
}

/// A number of calls before its interval is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) calls: f64,
    pub(super) variance: f64,
    pub(super) seen: u64,
}

impl Sum {
    /// Adds calls in the same windows. How much the numbers depend on each other is not known, so the standard errors
    /// add up: those of numbers that rise and fall together. At least as many windows saw calls as of either number.
    pub(super) fn with(self, other: Sum) -> Sum {
        let error = self.variance.max(0.0).sqrt() + other.variance.max(0.0).sqrt();
        Sum { calls: self.calls + other.calls, variance: error * error, seen: self.seen.max(other.seen) }
    }

    /// Adds calls in other windows, which are independent.
    pub(super) fn with_independent(self, other: Sum) -> Sum {
        Sum {
            calls: self.calls + other.calls,
            variance: self.variance + other.variance,
            seen: self.seen.saturating_add(other.seen),
        }
    }
}

/// A caller, or code outside of all functions, and the function that it called.
pub(super) type Pair = (Option<FunctionId>, FunctionId);

/// The estimated calls of functions.
#[derive(Debug, Default)]
pub struct CallEstimates {
    /// The calls of each function by other functions and by code outside of all functions.
    pub(super) functions: HashMap<FunctionId, CallEstimate>,
    /// The calls of each pair, also of a function by itself.
    pub(super) pairs: HashMap<Pair, CallEstimate>,
    /// Whether the samples are of the same time.
    pub(super) are_of_all_samples: bool,
}

impl CallEstimates {
    /// Returns the calls of a function by others. `None` if they were not to be estimated.
    #[must_use]
    pub fn of(&self, id: FunctionId) -> Option<CallEstimate> {
        self.functions.get(&id).copied()
    }

    /// Returns the calls of a function by a caller, or by code outside of all functions. `None` if the calls of the
    /// function were not to be estimated.
    #[must_use]
    pub fn of_pair(&self, caller: Option<FunctionId>, called: FunctionId) -> Option<CallEstimate> {
        let known = self.pairs.get(&(caller, called)).copied();
        let unseen = |of: CallEstimate| CallEstimate { windows: of.windows, ..CallEstimate::default() };
        known.or_else(|| self.of(called).map(unseen))
    }

    /// Returns whether any window saw a call of a function.
    #[must_use]
    pub fn are_seen(&self, id: FunctionId) -> bool {
        let is_seen = |estimate: CallEstimate| estimate.seen > 0;
        self.of(id).is_some_and(is_seen) || self.of_pair(Some(id), id).is_some_and(is_seen)
    }

    /// Returns the caller and the called function of all calls from function to function, in order.
    pub(super) fn arcs(&self) -> Vec<(FunctionId, FunctionId)> {
        let mut arcs: Vec<_> = self.pairs.keys().filter_map(|(caller, called)| Some(((*caller)?, *called))).collect();
        arcs.sort_unstable();
        arcs
    }

    /// Returns all estimates.
    pub(crate) fn all(&self) -> impl Iterator<Item = &CallEstimate> {
        self.functions.values().chain(self.pairs.values())
    }
}

/// The 0.975 quantiles of Student's t distribution, by degrees of freedom: NIST/SEMATECH e-Handbook of Statistical
/// Methods, 1.3.6.7.2.
const QUANTILES: [(f64, f64); 15] = [
    (1.0, 12.706),
    (2.0, 4.303),
    (3.0, 3.182),
    (4.0, 2.776),
    (5.0, 2.571),
    (6.0, 2.447),
    (7.0, 2.365),
    (8.0, 2.306),
    (10.0, 2.228),
    (15.0, 2.131),
    (20.0, 2.086),
    (30.0, 2.042),
    (60.0, 2.000),
    (100.0, 1.984),
    (f64::INFINITY, 1.960),
];

/// The 0.975 quantile for a number of degrees of freedom. Between two numbers of the table, the quantile is almost
/// linear in the inverse of the number. Each arc has an interval, and `statistics::student_quantile` takes some hundred
/// times as long.
pub(super) fn quantile(freedom: u64) -> f64 {
    let inverse = 1.0 / freedom.max(1) as f64;
    let of = |&(freedom, quantile): &(f64, f64)| (1.0 / freedom, quantile);
    let mut pairs = QUANTILES.windows(2).filter_map(|pair| Some((of(pair.first()?), of(pair.last()?))));
    let around = pairs.rfind(|((high, _), (low, _))| (*low..=*high).contains(&inverse));
    around.map_or(QUANTILES[0].1, |((high, at_high), (low, at_low))| {
        at_low + (at_high - at_low) * (inverse - low) / (high - low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if a quantile of the table is wrong or a quantile between two is not: the values are those of the table
    /// in the e-Handbook.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in
            [(1, 12.706), (4, 2.776), (9, 2.262), (12, 2.179), (17, 2.110), (25, 2.060), (40, 2.021), (80, 1.990)]
        {
            assert!((quantile(freedom) - expected).abs() < 0.002, "{freedom}: {}", quantile(freedom));
        }
        assert_eq!([quantile(0), quantile(1)], [12.706; 2]);
        assert!((quantile(299) - 1.968).abs() < 0.001 && (quantile(u64::MAX) - 1.96).abs() < 1e-9);
    }

    /// Fails if the upper end is not that of an interval of the logarithm, if the degrees of freedom are others, or if
    /// one side is shorter.
    #[test]
    fn the_upper_end_is_a_factor_away() {
        let of = |calls, error: f64, seen| CallEstimate::new(Sum { calls, variance: error * error, seen }, 300);
        let estimate = of(1000.0, 100.0, 10);
        let factor = (2.262_f64 * 0.1).exp();
        let (least, most) = estimate.interval.unwrap();
        assert!((most as f64 - 1000.0 * factor).abs() <= 1.5 && most - 1000 == 1000 - least, "{estimate:?}");
        assert!((estimate.percent().unwrap() - 25.4).abs() < 0.11, "{estimate:?}");
        assert_eq!((estimate.calls, estimate.seen, estimate.windows, estimate.error), (1000, 10, 300, 100.0));
        assert_eq!(of(1000.0, 100.0, 4).interval, None);
        assert!(of(1000.0, 100.0, 5).interval.is_some());
        assert_eq!(of(1000.0, 0.0, 5).interval, Some((1000, 1000)));
        // Five windows saw five calls at least.
        assert_eq!(of(500.0, 5000.0, 5).interval.unwrap().0, 5);
    }

    /// Fails if dependent numbers are added as independent ones, or the other way.
    #[test]
    fn errors_in_the_same_windows_add_up() {
        let [one, other] =
            [(10.0, 9.0, 3), (20.0, 16.0, 7)].map(|(calls, variance, seen)| Sum { calls, variance, seen });
        assert_eq!(one.with(other), Sum { calls: 30.0, variance: 49.0, seen: 7 });
        assert_eq!(one.with_independent(other), Sum { calls: 30.0, variance: 25.0, seen: 10 });
    }
}
