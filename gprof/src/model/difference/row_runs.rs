//! What the runs say of a row.

use super::judge::{Judgement, mean};
use crate::model::statistics::Mean;

/// The level at which numbers of calls that differ from run to run are tested: the level of several runs, corrected for
/// 100 such functions.
const VARYING_CALLS: f64 = 1e-4;

/// What the runs say of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RowRuns {
    /// The self time.
    pub own: Judgement,
    /// The inclusive time; `None` if its error is not known: estimates of single runs, and runs of which only some have
    /// stacks. An inclusive time is the sum of other rows' self times, so it is no row of its own in the verdict.
    pub inclusive: Option<Judgement>,
    /// The calls by other functions; `None` if no calls can be compared.
    pub calls: Option<CallsJudged>,
    /// The self time of each call; `None` if a run counted no calls.
    pub for_each_call: Option<Judgement>,
}

/// The mean number of calls a run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallsJudged {
    /// The mean of the base's runs.
    pub base: f64,
    /// The mean of the other runs.
    pub new: f64,
    /// Whether all runs of a side counted the same number, so that a change is certain.
    pub is_exact: bool,
    /// Whether the number changed. Exact numbers that differ changed for certain. Numbers that differ from run to run
    /// changed if all runs of one side have more calls than any of the other, and chance explains this in one of 10,000
    /// cases at most (Welch's t-test).
    pub has_changed: bool,
}

impl CallsJudged {
    pub(super) fn new([base, new]: [&[u64]; 2]) -> CallsJudged {
        let ends = |counts: &[u64]| {
            (counts.iter().min().copied().unwrap_or_default(), counts.iter().max().copied().unwrap_or_default())
        };
        let (of_base, of_new) = (ends(base), ends(new));
        let [base, new] = [base, new].map(|counts| counts.iter().map(|count| *count as f64).collect::<Vec<f64>>());
        let is_exact = of_base.0 == of_base.1 && of_new.0 == of_new.1;
        let is_apart = of_base.1 < of_new.0 || of_new.1 < of_base.0;
        let is_no_chance =
            || Mean::of(&new).zip(Mean::of(&base)).is_some_and(|(new, base)| new.less(base).p() < VARYING_CALLS);
        CallsJudged {
            base: mean(&base),
            new: mean(&new),
            is_exact,
            has_changed: is_apart && (is_exact || is_no_chance()),
        }
    }

    /// Returns the change as a percentage of the base; `None` if the base has no calls.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        Some(100.0 * (self.new - self.base) / self.base).filter(|_| self.base > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if a difference between numbers that vary counts as exact, or if two runs a side are enough for them.
    #[test]
    fn exact_calls_are_certain_and_varying_calls_are_tested() {
        let of = |base: &[u64], new: &[u64]| {
            let calls = CallsJudged::new([base, new]);
            (calls.is_exact, calls.has_changed)
        };
        assert_eq!(of(&[100; 3], &[101; 2]), (true, true));
        assert_eq!(of(&[100; 3], &[100; 3]), (true, false));
        assert_eq!(of(&[100, 102], &[103, 105]), (false, false), "one of three comparisons looks so by chance");
        assert_eq!(of(&[100, 102, 101, 99, 100], &[151, 150, 152, 149, 150]), (false, true));
        assert_eq!(of(&[100, 200, 101, 99, 100], &[151, 150, 152, 149, 150]), (false, false));
        assert_eq!(of(&[100, 102, 101], &[150]), (false, false), "the spread of one run is not known");
        assert_eq!(CallsJudged::new([&[0, 0], &[5, 7]]).percent(), None);
        assert_eq!(CallsJudged::new([&[100, 100], &[150, 150]]).percent(), Some(50.0));
    }
}
