//! What the runs say of a row.

use super::judge::{Judgement, mean};

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
    /// Whether the number changed: for certain, or because each run of one side has more calls than any of the other.
    pub has_changed: bool,
}

impl CallsJudged {
    pub(super) fn new([base, new]: [&[u64]; 2]) -> CallsJudged {
        let ends = |counts: &[u64]| {
            (counts.iter().min().copied().unwrap_or_default(), counts.iter().max().copied().unwrap_or_default())
        };
        let (of_base, of_new) = (ends(base), ends(new));
        let mean = |counts: &[u64]| mean(&counts.iter().map(|count| *count as f64).collect::<Vec<_>>());
        CallsJudged {
            base: mean(base),
            new: mean(new),
            is_exact: of_base.0 == of_base.1 && of_new.0 == of_new.1,
            has_changed: of_base.1 < of_new.0 || of_new.1 < of_base.0,
        }
    }

    /// Returns the change as a percentage of the base; `None` if the base has no calls.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        Some(100.0 * (self.new - self.base) / self.base).filter(|_| self.base > 0.0)
    }
}
