//! Judges the rows of several runs a side.

use super::change::{Change, Time};
use super::judge::{Evidence, Judgement, Numbers, correct, mean};
use super::model::{ArcChange, DifferenceRow, Runs};
use super::row_runs::{CallsJudged, RowRuns};
use super::run::{Run, pairs};
use super::side::{Elsewhere, Numbers as Summed, Side, Subjects};
use crate::model::statistics::normal_p;
use crate::program::symbols::functions::FunctionId;

/// Judges rows one after the other.
pub(super) struct Judge<'r, 'a, 'data> {
    sides: [Side<'a, 'data>; 2],
    runs: [Vec<&'r Run>; 2],
    /// For each run, by what its times are multiplied.
    factors: [Vec<f64>; 2],
    pub(super) evidence: Evidence,
    has_calls: bool,
}

impl<'r, 'a, 'data> Judge<'r, 'a, 'data> {
    pub(super) fn new(sides: [Side<'a, 'data>; 2], runs: [&'r [Run]; 2]) -> Judge<'r, 'a, 'data> {
        let pairs = pairs(runs);
        let evidence = match (&pairs, runs.iter().all(|runs| runs.len() > 1)) {
            (Some(_), _) => Evidence::Pairs,
            (None, true) => Evidence::Runs,
            (None, false) => Evidence::Sampling,
        };
        let runs = match pairs {
            None => runs.map(|runs| runs.iter().collect::<Vec<_>>()),
            Some(pairs) => [
                pairs.iter().map(|(base, _)| &runs[0][*base]).collect(),
                pairs.iter().map(|(_, new)| &runs[1][*new]).collect(),
            ],
        };
        // With --normalize, all runs have the same total time.
        let factor = |run: &&Run| match sides[1].whole {
            Some(whole) if run.total > 0.0 => whole / run.total,
            _ => 1.0,
        };
        let factors = [0, 1].map(|side: usize| runs[side].iter().map(factor).collect());
        let is_normalized = sides[1].whole.is_some();
        let is_counted =
            |side: &Side<'_, '_>| side.analysis.calls_on_demand().is_none() && !side.analysis.has_estimates();
        let has_calls = !is_normalized && sides.iter().all(is_counted);
        Judge { sides, runs, factors, evidence, has_calls }
    }

    /// The length of a sample on each side.
    fn samples(&self) -> [f64; 2] {
        self.sides.map(|side| side.analysis.clock.time(1.0))
    }

    fn values(&self, side: usize, of: impl Fn(&Run) -> f64) -> Vec<f64> {
        self.runs[side].iter().zip(&self.factors[side]).map(|(run, factor)| of(run) * factor).collect()
    }

    /// Judges values of all runs. `change` is the same for the sums, with the error of sampling; `spread` is the
    /// variance of sampling for each unit of the time now.
    fn judge(&self, values: [&[f64]; 2], change: &Change, spread: f64) -> Judgement {
        let lengths = self.samples();
        let samples = |side: usize| values[side].iter().map(move |value| value / lengths[side]);
        let (sampling, growth) = match self.evidence {
            Evidence::Sampling => (change.error.unwrap_or(0.0), spread),
            Evidence::Runs | Evidence::Pairs => {
                // The number of all samples of a run follows from its time, so a function that has all samples has no
                // error of sampling except for the ends of the run. The spread between the runs tells the rest.
                let total = mean(&self.values(0, |run| run.total)) + mean(&self.values(1, |run| run.total));
                let share = (mean(values[0]) + mean(values[1])) / total.max(f64::MIN_POSITIVE);
                let part = (1.0 - share).clamp(0.0, 1.0);
                let ends = [0, 1].map(|side: usize| lengths[side].powi(2) / values[side].len().max(1) as f64);
                let error = change.error.unwrap_or(0.0) * part.sqrt();
                (error.max((ends[0] + ends[1]).sqrt()), spread * part)
            }
        };
        Judgement::new(
            self.evidence,
            &Numbers {
                runs: values,
                samples: samples(0).chain(samples(1)).sum(),
                fewest: samples(0).chain(samples(1)).fold(f64::INFINITY, f64::min),
                sampling,
                growth,
            },
        )
    }

    /// Judges joined functions.
    pub(super) fn functions(
        &self,
        joined: &[Vec<FunctionId>; 2],
        [base, new]: [&Summed; 2],
        row: &DifferenceRow,
    ) -> RowRuns {
        let sum = |side: usize, of: &dyn Fn(&Run, usize) -> f64| {
            self.values(side, |run| joined[side].iter().map(|id| of(run, id.index())).sum())
        };
        let own = [0, 1].map(|side: usize| sum(side, &|run, at| run.own[at]));
        let own = [own[0].as_slice(), own[1].as_slice()];
        let has_inclusive = self.runs.iter().flatten().all(|run| !run.inclusive.is_empty());
        let is_known = has_inclusive && (row.inclusive.error.is_some() || self.evidence != Evidence::Sampling);
        let inclusive = is_known.then(|| {
            let values = [0, 1].map(|side: usize| sum(side, &|run, at| run.inclusive[at]));
            self.judge([&values[0], &values[1]], &row.inclusive, new.inclusive.spread)
        });
        let counts = [0, 1].map(|side: usize| self.calls(side, &joined[side]));
        let calls = self.has_calls.then(|| CallsJudged::new([&counts[0], &counts[1]]));
        let is_called = |counts: &Vec<u64>| counts.iter().all(|count| *count > 0);
        let for_each_call = calls.filter(|_| counts.iter().all(is_called)).map(|calls| {
            let each = |side: usize| {
                let times = own[side].iter().zip(&counts[side]);
                times.map(|(time, calls)| time / *calls as f64).collect::<Vec<f64>>()
            };
            let [of_base, of_new] = [each(0), each(1)];
            let scaled = |time: &Time, calls: f64| Time {
                time: time.time / calls,
                variance: time.variance.map(|variance| variance / calls.powi(2)),
                spread: time.spread / calls,
            };
            let [base, new] = [scaled(&base.own, calls.base), scaled(&new.own, calls.new)];
            self.judge_each_call([&of_base, &of_new], own, &Time::change(base, new, None), new.spread)
        });
        RowRuns { own: self.judge(own, &row.own, new.own.spread), inclusive, calls, for_each_call }
    }

    /// Judges the time of each call. The samples are those of the whole times.
    fn judge_each_call(&self, each: [&[f64]; 2], whole: [&[f64]; 2], change: &Change, spread: f64) -> Judgement {
        let lengths = self.samples();
        let samples = |side: usize| whole[side].iter().map(move |value| value / lengths[side]);
        Judgement::new(
            self.evidence,
            &Numbers {
                runs: each,
                samples: samples(0).chain(samples(1)).sum(),
                fewest: samples(0).chain(samples(1)).fold(f64::INFINITY, f64::min),
                sampling: change.error.unwrap_or(0.0),
                growth: spread,
            },
        )
    }

    /// The calls of joined functions in each run.
    pub(super) fn calls(&self, side: usize, ids: &[FunctionId]) -> Vec<u64> {
        let sum = |run: &&Run| ids.iter().fold(0_u64, |sum, id| sum.saturating_add(run.calls[id.index()]));
        self.runs[side].iter().map(sum).collect()
    }

    /// Judges time outside of all functions.
    pub(super) fn elsewhere(&self, elsewhere: Elsewhere, new: &Summed, row: &DifferenceRow) -> RowRuns {
        let values = [0, 1].map(|side: usize| self.values(side, |run| run.elsewhere[elsewhere as usize]));
        let own = self.judge([&values[0], &values[1]], &row.own, new.own.spread);
        RowRuns { own, inclusive: Some(own), calls: None, for_each_call: None }
    }

    /// Judges the time of everything, which is not tested if it is the same by definition.
    fn total(&self) -> Judgement {
        let values = [0, 1].map(|side: usize| self.values(side, |run| run.total));
        let times = self.sides.map(|side| side.exactly(side.samples, side.samples.max(0.0).sqrt()));
        let change = Time::change(times[0], times[1], None);
        let mut total = self.judge([&values[0], &values[1]], &change, times[1].spread);
        total.corrected = total.corrected.filter(|_| self.sides[1].whole.is_none());
        total
    }

    /// Corrects what is tested together: the self times of all rows and the total; and all inclusive times. A change
    /// that the report calls noise, because it has fewer standard errors than `noise_errors`, does not count: that is
    /// what reports of single runs show.
    pub(super) fn finish(&self, rows: &mut [DifferenceRow], noise_errors: f64) -> Runs {
        let counts = [0, 1].map(|side: usize| self.runs[side].len());
        let limit = if counts == [1, 1] { normal_p(noise_errors) } else { 1.0 };
        let mut total = self.total();
        let own = rows.iter_mut().map(|row| &mut row.runs.own);
        let mut own: Vec<&mut Judgement> = own.chain(std::iter::once(&mut total)).collect();
        let level = correct(&mut own, self.evidence, limit);
        let tests = own.iter().filter(|change| change.corrected.is_some()).count();
        let inclusive = rows.iter_mut().filter_map(|row| row.runs.inclusive.as_mut());
        correct(&mut inclusive.collect::<Vec<_>>(), self.evidence, limit);
        for each in rows.iter_mut().filter_map(|row| row.runs.for_each_call.as_mut()) {
            correct(&mut [each], self.evidence, 1.0);
        }
        Runs {
            counts,
            evidence: self.evidence,
            tests,
            level,
            total,
            findings: Vec::new(),
            calls: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The calls between joined functions that changed, where both sides have both functions.
    pub(super) fn changed_arcs(&self, runs: [&[Run]; 2], subjects: &Subjects) -> Vec<ArcChange> {
        if !self.has_calls {
            return Vec::new();
        }
        let of_function = |at: usize| {
            let counts = [0, 1].map(|side: usize| self.calls(side, &subjects.joined[at][side]));
            CallsJudged::new([&counts[0], &counts[1]])
        };
        let is_on_both = |at: usize| subjects.joined[at].iter().all(|side| !side.is_empty());
        let mut changed = Vec::new();
        for ((caller, called), counts) in super::run::arcs(runs, |side, id| subjects.number(side, id)) {
            let calls = CallsJudged::new([&counts[0], &counts[1]]);
            if !calls.has_changed || caller == called || !is_on_both(caller) || !is_on_both(called) {
                continue;
            }
            let by = of_function(caller);
            // A function that nothing calls, such as `main`, ran once.
            let [base, new] = [by.base, by.new].map(|calls| calls.max(1.0));
            let is_same = by.is_exact && calls.is_exact && calls.base * new == calls.new * base;
            changed.push(ArcChange { ends: (caller, called), calls, is_origin: !is_same });
        }
        let size = |arc: &ArcChange| (arc.calls.new - arc.calls.base).abs();
        changed.sort_by(|one, other| size(other).total_cmp(&size(one)).then(one.ends.cmp(&other.ends)));
        changed
    }
}
