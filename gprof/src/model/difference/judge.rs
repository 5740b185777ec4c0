//! What the runs of both sides say about the change of one number: how large the change is, whether chance explains it,
//! and which change these runs would show.
//!
//! The time of a function differs from run to run by a factor (another frequency of the processor, other programs in
//! its caches), and by the chance of sampling. A factor is a sum on a logarithmic scale, where growth and shrinkage are
//! as likely, so numbers with [`LOG_SAMPLES`] samples in each run are compared there. A number with fewer samples is
//! compared as it is: its logarithm is far from normal, and does not exist without a sample.
//!
//! The spread of a few runs may be small by accident, most of all where each run has a few samples. So a change counts
//! only if it is more than the spread between the runs explains ([`Mean::p`]), and more than the samples alone explain.

use crate::model::statistics::{Mean, holm, student_p, student_quantile, visible_errors};

/// The samples that each run must have of a function, so that the logarithms of its times are compared.
const LOG_SAMPLES: f64 = 25.0;

/// The samples of a function on both sides below which no test is made: even if one side had them all, a report with
/// five functions or more would call the change chance. The number of samples of both sides together says nothing about
/// their difference, so the choice keeps the promised level.
const FEWEST_SAMPLES: f64 = 10.0;

/// The level of the intervals: 95 of 100 contain the true change.
const INTERVAL: f64 = 0.05;

/// By what the sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// The chance of sampling alone, because a side has one run. What differs between runs is not known.
    Sampling,
    /// The spread between the runs of each side (Welch's t-test).
    Runs,
    /// The spread of the differences between a run of the base and the run after or before it (the t-test of pairs).
    Pairs,
}

impl Evidence {
    /// Returns the highest probability that a comparison of a program with itself has any row that is said to have
    /// changed. It is lower without several runs, where part of the truth is not known.
    #[must_use]
    pub fn level(self) -> f64 {
        match self {
            Evidence::Sampling => 1e-3,
            Evidence::Runs | Evidence::Pairs => 1e-2,
        }
    }
}

/// The change of a mean time a run, as the runs tell it. Times are in the unit of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// The mean of the base's runs.
    pub base: f64,
    /// The mean of the other runs.
    pub new: f64,
    /// The ends of the confidence interval (95 %) of the change.
    pub interval: (f64, f64),
    /// The probability of such a change if nothing changed.
    pub p: f64,
    /// The same, corrected for the number of rows (Holm); `None` if there are too few samples for a test.
    pub corrected: Option<f64>,
    /// The smallest growth that these runs show with a probability of 0.8; `None` without a test.
    pub visible: Option<f64>,
    /// Whether the logarithms of the times were compared.
    pub is_log: bool,
    /// Whether the change is more than chance explains.
    pub is_certain: bool,
    spread: Spread,
}

/// What the runs and samples say about errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spread {
    /// The standard error of the difference between the means, in the scale of the test, and its degrees of freedom;
    /// `None` if sampling alone counts.
    runs: Option<(f64, f64)>,
    /// The standard error of sampling.
    sampling: f64,
    /// By how much the variance of sampling grows with the time.
    growth: f64,
}

/// What is known of one number before the test.
pub(super) struct Numbers<'n> {
    /// The number in each run of the base and of the other profiles.
    pub(super) runs: [&'n [f64]; 2],
    /// The samples of both sides together.
    pub(super) samples: f64,
    /// The least number of samples in any run.
    pub(super) fewest: f64,
    /// The standard error of sampling of the difference of the means.
    pub(super) sampling: f64,
    /// By how much the variance of sampling grows with the mean of the other runs.
    pub(super) growth: f64,
}

pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

impl Judgement {
    /// Judges a number. The result is not corrected yet.
    pub(super) fn new(evidence: Evidence, numbers: &Numbers<'_>) -> Judgement {
        let [base, new] = numbers.runs.map(mean);
        let is_log = evidence != Evidence::Sampling && numbers.fewest >= LOG_SAMPLES;
        let spread = Spread { runs: None, sampling: numbers.sampling, growth: numbers.growth };
        let judged = Judgement { base, new, is_log, spread, ..Judgement::default() };
        let (chance, wide) = judged.of_sampling();
        let judged = match judged.of_runs(evidence, numbers.runs) {
            None => Judgement { p: chance, interval: wide, ..judged },
            Some((change, (low, high))) => Judgement {
                p: change.p().max(chance),
                interval: (low.min(wide.0), high.max(wide.1)),
                spread: Spread { runs: Some((change.error(), change.df)), ..spread },
                ..judged
            },
        };
        // The value becomes the corrected one.
        Judgement { corrected: (numbers.samples >= FEWEST_SAMPLES).then_some(judged.p), ..judged }
    }

    /// The p-value and the interval by the samples alone.
    fn of_sampling(&self) -> (f64, (f64, f64)) {
        let (change, error) = (self.change(), self.spread.sampling);
        let p = match (change == 0.0, error > 0.0) {
            (true, _) => 1.0,
            (false, true) => student_p(change / error, f64::INFINITY),
            (false, false) => 0.0,
        };
        let width = error * student_quantile(INTERVAL, f64::INFINITY);
        (p, (change - width, change + width))
    }

    /// The difference of the means in the scale of the test, and the interval in the unit of the times.
    fn of_runs(&self, evidence: Evidence, [base, new]: [&[f64]; 2]) -> Option<(Mean, (f64, f64))> {
        let scaled = |values: &[f64]| match self.is_log {
            true => values.iter().map(|value| value.ln()).collect(),
            false => values.to_vec(),
        };
        let [base, new]: [Vec<f64>; 2] = [scaled(base), scaled(new)];
        let change = match evidence {
            Evidence::Sampling => return None,
            Evidence::Runs => Mean::of(&new)?.less(Mean::of(&base)?),
            Evidence::Pairs => Mean::of(&new.iter().zip(base).map(|(new, base)| new - base).collect::<Vec<_>>())?,
        };
        let width = change.error() * student_quantile(INTERVAL, change.df);
        Some((change, (self.unscaled(change.mean - width), self.unscaled(change.mean + width))))
    }

    /// A change of the test's scale, in the unit of the times.
    fn unscaled(&self, change: f64) -> f64 {
        if self.is_log { self.base * change.exp_m1() } else { change }
    }

    /// Returns the change of the mean.
    #[must_use]
    pub fn change(&self) -> f64 {
        self.new - self.base
    }

    /// Returns a time as a percentage of the mean of the base; `None` if this mean is 0.
    #[must_use]
    pub fn percent(&self, time: f64) -> Option<f64> {
        Some(100.0 * time / self.base).filter(|_| self.base > 0.0)
    }

    /// Returns half of the width of the interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.interval.1 - self.interval.0) / 2.0
    }

    /// The growth that a test at a level shows with a probability of 0.8.
    fn visible_at(&self, level: f64) -> f64 {
        let Spread { runs, sampling, growth } = self.spread;
        let errors = visible_errors(level, f64::INFINITY);
        // The variance without a change; a growth by x adds `growth` times x. So x is the root of a quadratic equation.
        let variance = (sampling * sampling - growth * self.change()).max(sampling * sampling / 100.0);
        let square = errors * errors;
        let of_samples = (square * growth + (square * square * growth * growth + 4.0 * square * variance).sqrt()) / 2.0;
        let of_runs = runs.map_or(0.0, |(error, df)| self.unscaled(error * visible_errors(level, df)));
        of_samples.max(of_runs)
    }

    /// Returns how many runs a side show a growth by this part of the base's mean with a probability of 0.8, if the
    /// runs differ as these do. `counts` are the numbers of runs of both sides, and `level` is the corrected level.
    /// `None` if no number up to 10,000 does.
    pub(super) fn runs_for(&self, part: f64, counts: [usize; 2], evidence: Evidence, level: f64) -> Option<usize> {
        const MOST: usize = 10_000;
        let [base, new] = counts.map(|count| count as f64);
        // The variance of a difference between single runs. Sampling alone says nothing about more runs than one, so
        // the answer is then the least number.
        let single = match evidence {
            Evidence::Pairs => new,
            _ => 1.0 / (1.0 / base + 1.0 / new) * 2.0,
        };
        let shows = |count: usize| {
            let count = count as f64;
            let shrinks = (single / count).sqrt();
            let df = if evidence == Evidence::Pairs { count - 1.0 } else { 2.0 * (count - 1.0) };
            let spread = Spread {
                runs: self.spread.runs.map(|(error, _)| (error * shrinks, df)),
                sampling: self.spread.sampling * shrinks,
                growth: self.spread.growth * single / count,
            };
            Judgement { spread, ..*self }.visible_at(level) <= part * self.base
        };
        if !shows(MOST) {
            return None;
        }
        let (mut too_few, mut enough) = (1, MOST);
        while enough - too_few > 1 {
            let middle = usize::midpoint(too_few, enough);
            if shows(middle) { enough = middle } else { too_few = middle }
        }
        Some(enough)
    }
}

/// Corrects the p-values of changes that are tested together, and says which changes count: those whose corrected value
/// is below the level of the evidence, and whose own value is below `limit`. Returns the level at which the change with
/// the lowest p-value is tested.
pub(super) fn correct(changes: &mut [&mut Judgement], evidence: Evidence, limit: f64) -> f64 {
    let mut p: Vec<f64> = changes.iter().filter_map(|change| change.corrected).collect();
    let level = (evidence.level() / (p.len().max(1) as f64)).min(limit);
    holm(&mut p);
    let mut p = p.into_iter();
    for change in changes.iter_mut().filter(|change| change.corrected.is_some()) {
        change.corrected = p.next();
        change.is_certain = change.p < limit && change.corrected.is_some_and(|p| p < evidence.level());
        change.visible = Some(change.visible_at(level));
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(evidence: Evidence, base: &[f64], new: &[f64], sampling: f64) -> Judgement {
        let fewest = base.iter().chain(new).copied().fold(f64::INFINITY, f64::min);
        let samples = base.iter().chain(new).sum();
        let growth = 1.0 / new.len() as f64;
        Judgement::new(evidence, &Numbers { runs: [base, new], samples, fewest, sampling, growth })
    }

    #[test]
    fn a_factor_is_compared_on_a_logarithmic_scale() {
        // Twice the base in each run: the logarithms have the same spread, and the interval is one of factors.
        let change = judged(Evidence::Runs, &[90.0, 100.0, 110.0], &[180.0, 200.0, 220.0], 1.0);
        assert!(change.is_log && (change.base, change.new, change.change()) == (100.0, 200.0, 100.0));
        let (low, high) = change.interval;
        assert!(((1.0 + low / 100.0) * (1.0 + high / 100.0) - 4.0).abs() < 1e-9, "{low} {high}");
        // A run with few samples: the numbers themselves are compared, so the interval is symmetric.
        let change = judged(Evidence::Runs, &[9.0, 100.0, 110.0], &[180.0, 200.0, 220.0], 1.0);
        let (low, high) = change.interval;
        assert!(!change.is_log && ((low + high) / 2.0 - change.change()).abs() < 1e-9);
    }

    #[test]
    fn runs_that_agree_by_accident_are_no_proof() {
        // Without the samples' own error, two sides without any spread would differ for certain.
        let change = judged(Evidence::Runs, &[3.0; 4], &[4.0; 4], (7.0_f64 / 4.0).sqrt());
        assert!(change.p > 0.4 && change.interval.0 < 0.0, "{change:?}");
        // A spread between the runs is not explained by the samples.
        let change = judged(Evidence::Runs, &[100.0, 160.0, 70.0], &[150.0, 210.0, 120.0], 1.0);
        assert!(change.p > 0.1, "{change:?}");
    }

    #[test]
    fn pairs_cancel_a_drift() {
        let (base, new) = ([100.0, 120.0, 140.0, 161.0], [110.0, 132.5, 154.0, 176.0]);
        let [apart, paired] = [Evidence::Runs, Evidence::Pairs].map(|evidence| judged(evidence, &base, &new, 1.0).p);
        assert!(apart > 0.2 && paired < 1e-3, "{apart} {paired}");
    }

    #[test]
    fn few_samples_are_not_tested() {
        let mut changes = [
            judged(Evidence::Sampling, &[0.0], &[9.0], 3.0),
            judged(Evidence::Sampling, &[100.0], &[190.0], 290.0_f64.sqrt()),
            judged(Evidence::Sampling, &[100.0], &[103.0], 203.0_f64.sqrt()),
        ];
        let mut all: Vec<&mut Judgement> = changes.iter_mut().collect();
        assert_eq!(correct(&mut all, Evidence::Sampling, 1.0), 1e-3 / 2.0);
        assert_eq!(changes.map(|change| change.is_certain), [false, true, false]);
        assert_eq!((changes[0].corrected, changes[0].visible), (None, None));
        assert!((changes[1].corrected.unwrap() - 2.0 * changes[1].p).abs() < 1e-18);
        // The same base, so the same change is visible: 100 samples, and 100 + x now.
        let [one, other] = [1, 2].map(|at: usize| changes[at].visible.unwrap());
        // A limit that is lower than the corrected level.
        let mut all: Vec<&mut Judgement> = changes.iter_mut().collect();
        assert_eq!((correct(&mut all, Evidence::Sampling, 1e-9), changes[1].is_certain), (1e-9, false));
        assert!((one - other).abs() < 1e-9 && (one / (200.0 + one).sqrt() - 3.4808 - 0.8416).abs() < 1e-3, "{one}");
    }

    #[test]
    fn more_runs_show_smaller_changes() {
        let mut change = judged(Evidence::Runs, &[95.0, 100.0, 105.0, 100.0], &[96.0, 101.0, 104.0, 99.0], 0.1);
        let level = correct(&mut [&mut change], Evidence::Runs, 1.0);
        let visible = change.visible.unwrap() / change.base;
        let enough = |part: f64| change.runs_for(part, [4, 4], Evidence::Runs, level).unwrap();
        assert_eq!(enough(visible * 1.001), 4);
        assert!(enough(visible / 2.0) > 8 && enough(visible / 2.0) < 16, "{}", enough(visible / 2.0));
        assert_eq!(change.runs_for(1e-9, [4, 4], Evidence::Runs, level), None);
    }
}
