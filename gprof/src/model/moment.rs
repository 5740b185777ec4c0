//! The counts of all functions at one moment, and what was counted between two moments.

use super::analysis::Analysis;
use super::rows::FlatProfile;
use super::stats::FlatSums;
use crate::program::symbols::functions::FunctionId;

/// The counts of a function. Times are in the unit of the samples, normally seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FunctionCounts {
    /// The function.
    pub(crate) id: FunctionId,
    /// The self time.
    pub(crate) own: f64,
    /// The inclusive time; `None` without stacks.
    pub(crate) inclusive: Option<f64>,
    /// The number of calls by other functions.
    pub(crate) calls: u64,
    /// Whether the calls were estimated and not counted.
    pub(crate) is_estimated: bool,
}

/// The counts of a profile at one moment, or between two moments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moment {
    /// The functions that were called or took time, in the order of their addresses.
    pub(crate) functions: Vec<FunctionCounts>,
    /// The time that is 100 percent: that of all functions.
    pub(crate) total: f64,
    /// All samples, also those outside of the program.
    pub(crate) samples: f64,
}

impl Analysis<'_> {
    /// Returns the counts of all functions.
    pub(crate) fn moment(&self) -> Moment {
        let outside = self.loaded.outside_images();
        let outside = outside.kernel.saturating_add(outside.vdso).saturating_add(outside.elsewhere);
        let samples = FlatSums::new(self.flat()).samples() + outside as f64;
        Moment { samples, ..Moment::of_rows(self.flat_profile(), self.clock.rate, self.is_measured()) }
    }
}

impl Moment {
    /// Takes the counts of the functions in a flat profile. `rate` is the number of samples for each unit of time; 0
    /// without samples.
    fn of_rows(flat: &FlatProfile<'_>, rate: f64, has_stacks: bool) -> Moment {
        let rate = if rate > 0.0 { rate } else { 1.0 };
        let rows = flat.rows.iter().filter(|row| row.is_used());
        let mut functions: Vec<FunctionCounts> = rows
            .map(|row| FunctionCounts {
                id: row.function,
                own: row.time / rate,
                inclusive: has_stacks.then_some((row.time + row.children) / rate),
                calls: row.calls,
                is_estimated: row.estimate.is_some(),
            })
            .collect();
        functions.sort_unstable_by_key(|counts| counts.id);
        Moment { functions, total: flat.total / rate, samples: 0.0 }
    }

    /// Returns what was counted since an earlier moment of the same run; `None` if the earlier moment counted more, so
    /// that it is of another run.
    pub(crate) fn since(&self, earlier: &Moment) -> Option<Moment> {
        if earlier.samples > self.samples {
            return None;
        }
        let mut before = earlier.functions.iter().peekable();
        let mut functions = Vec::new();
        for counts in &self.functions {
            while before.next_if(|before| before.id < counts.id).is_some() {}
            let more = match before.next_if(|before| before.id == counts.id) {
                Some(before) => counts.since(before)?,
                None => *counts,
            };
            if more.own > 0.0 || more.calls > 0 || more.inclusive.is_some_and(|time| time > 0.0) {
                functions.push(more);
            }
        }
        let total = (self.total - earlier.total).max(0.0);
        Some(Moment { functions, total, samples: self.samples - earlier.samples })
    }
}

impl FunctionCounts {
    /// Returns what was counted since; `None` if there are fewer calls than before.
    fn since(&self, before: &FunctionCounts) -> Option<FunctionCounts> {
        // A bin that functions share, and stacks that were read while they were counted, may move a part of a tick.
        let difference = |now: f64, before: f64| (now - before).max(0.0);
        Some(FunctionCounts {
            id: self.id,
            own: difference(self.own, before.own),
            inclusive: self.inclusive.map(|now| difference(now, before.inclusive.unwrap_or(0.0))),
            calls: self.calls.checked_sub(before.calls)?,
            is_estimated: self.is_estimated,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limit::LeftOut;
    use crate::model::on_demand::CallTime;
    use crate::model::rows::{CallTimeUnit, RowSamples};
    use crate::program::image::Symbol;
    use crate::program::symbols::functions::Functions;

    fn ids() -> Vec<FunctionId> {
        let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
        Functions::new([16, 32, 48].map(symbol).to_vec(), 64).ids().collect()
    }

    fn moment(counts: &[(usize, f64, u64)]) -> Moment {
        let ids = ids();
        let one = |&(at, own, calls): &(usize, f64, u64)| FunctionCounts {
            id: ids[at],
            own,
            inclusive: None,
            calls,
            is_estimated: false,
        };
        let total = counts.iter().map(|(_, own, _)| own).sum();
        Moment { functions: counts.iter().map(one).collect(), total, samples: 100.0 * total }
    }

    #[test]
    fn what_was_counted_between_two_moments() {
        let before = moment(&[(0, 1.0, 5), (2, 2.0, 1)]);
        let after = moment(&[(0, 1.0, 5), (1, 0.5, 7), (2, 2.25, 4)]);
        let more = after.since(&before).unwrap();
        assert_eq!(more.functions, moment(&[(1, 0.5, 7), (2, 0.25, 3)]).functions);
        assert_eq!((more.total, more.samples), (0.75, 75.0));
    }

    #[test]
    fn counts_that_shrink_are_of_another_run() {
        let before = moment(&[(0, 1.0, 5)]);
        assert!(moment(&[(0, 0.5, 9)]).since(&before).is_none());
        assert!(moment(&[(0, 1.5, 4)]).since(&before).is_none());
        assert!(before.since(&before).unwrap().functions.is_empty());
    }

    #[test]
    fn any_count_that_grows_is_a_change() {
        let ids = ids();
        let one = |at: usize, own, inclusive, calls| FunctionCounts {
            id: ids[at],
            own,
            inclusive: Some(inclusive),
            calls,
            is_estimated: false,
        };
        let of = |functions| Moment { functions, total: 1.0, samples: 100.0 };
        let before = of(vec![one(0, 1.0, 2.0, 3), one(1, 1.0, 2.0, 3)]);
        let changed = |own: f64, inclusive: f64, calls: u64| {
            let after = of(vec![one(0, 1.0 + own, 2.0 + inclusive, 3 + calls), one(1, 1.0, 2.0, 3)]);
            after.since(&before).unwrap().functions
        };
        assert_eq!(changed(0.5, 0.0, 0), [one(0, 0.5, 0.0, 0)]);
        assert_eq!(changed(0.0, 0.5, 0), [one(0, 0.0, 0.5, 0)]);
        assert_eq!(changed(0.0, 0.0, 2), [one(0, 0.0, 0.0, 2)]);
        assert_eq!(changed(0.0, 0.0, 0), []);
        // A part of a tick that moved to another function is no change.
        assert_eq!(changed(-0.25, -0.25, 0), []);
    }

    #[test]
    fn a_moment_has_times_in_the_unit_of_the_samples() {
        let ids = ids();
        let row = |(at, time, calls, children): (usize, f64, u64, f64)| RowSamples {
            function: ids[at],
            inlined: None,
            time,
            error: 0.0,
            calls,
            estimate: None,
            children,
            call_time: CallTime::Whole,
        };
        let flat = FlatProfile {
            rows: [(2, 50.0, 0, 10.0), (0, 25.0, 3, 5.0), (1, 0.0, 0, 0.0)].map(row).into(),
            shown: 3,
            unused: Vec::new(),
            unit: CallTimeUnit { prefix: ' ', factor: 1.0 },
            total: 75.0,
            left_out: LeftOut::default(),
        };
        let of = |rate, has_stacks| {
            let moment = Moment::of_rows(&flat, rate, has_stacks);
            let counts = moment.functions.iter().map(|one| (one.id, one.own, one.inclusive, one.calls));
            (counts.collect::<Vec<_>>(), moment.total)
        };
        assert_eq!(of(100.0, true), (vec![(ids[0], 0.25, Some(0.3), 3), (ids[2], 0.5, Some(0.6), 0)], 0.75));
        assert_eq!(of(50.0, false), (vec![(ids[0], 0.5, None, 3), (ids[2], 1.0, None, 0)], 1.5));
        // Without a rate, times are in samples.
        assert_eq!(of(0.0, false), (vec![(ids[0], 25.0, None, 3), (ids[2], 50.0, None, 0)], 75.0));
    }
}
