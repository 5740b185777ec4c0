//! The rows of the flat profile.

use std::cmp::Reverse;

use super::errors::Errors;
use super::estimates::CallEstimate;
use super::intermediate::Intermediate;
use super::limit::{self, LeftOut};
use super::on_demand::{CallTime, OnDemandCounts};
use crate::model::flat::Flat;
use crate::model::graph::Graph;
use crate::model::inlined_times::InlinedTime;
use crate::model::ordered::Ordered;
use crate::model::percent::whole;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::question::reports::FLAT;
use crate::question::rules::CallUnit;

/// A row of the flat profile, in samples.
#[derive(Debug)]
pub struct RowSamples<'data> {
    /// The function.
    pub function: FunctionId,
    /// The symbol of a function that was inlined into `function`, if the row is about the inlined code.
    pub inlined: Option<&'data [u8]>,
    /// The self time in samples.
    pub time: f64,
    /// The standard error of the self time in samples; 0 when the options do not ask for errors.
    pub error: f64,
    /// The number of calls by other functions.
    pub calls: u64,
    /// The estimated number of calls, if they were estimated and not counted.
    pub estimate: Option<CallEstimate>,
    /// The time of called functions in samples.
    pub children: f64,
    /// The time that belongs to the calls.
    pub call_time: CallTime,
}

impl<'data> RowSamples<'data> {
    /// Returns the rows of all functions, in the order of their addresses.
    pub(crate) fn all(functions: &Functions<'data>, flat: &Flat, graph: &Graph) -> Vec<RowSamples<'data>> {
        let row = |function: FunctionId| RowSamples {
            function,
            inlined: None,
            time: flat.time[function.index()],
            error: 0.0,
            calls: graph.calls(function),
            estimate: graph.estimate(function),
            children: graph.share(function).all_children,
            call_time: CallTime::Whole,
        };
        functions.ids().map(row).collect()
    }

    /// Adds rows for inlined functions, and takes their time from the rows of the functions around the inlined code.
    fn split(rows: &mut Vec<RowSamples<'data>>, inlined: Vec<InlinedTime<'data>>, errors: &Errors) {
        /// The sums of shares of samples may differ by this part because of rounding. A difference of this size is no
        /// time, because it is far less than one byte's share of a bin.
        const ROUNDING: f64 = 1e-9;
        let whole: Vec<f64> = rows.iter().map(|row| row.time).collect();
        for InlinedTime { place, inside: function, name, time } in inlined {
            // The rows are still in the order of functions.
            let around = &mut rows[function.index()];
            around.time -= time;
            around.children += time;
            let error = errors.of_inlined(place);
            let (calls, estimate, children, call_time) = (0, None, 0.0, CallTime::Unknown);
            rows.push(RowSamples { function, inlined: Some(name), time, error, calls, estimate, children, call_time });
        }
        for (row, whole) in rows.iter_mut().zip(whole) {
            if row.time.abs() <= ROUNDING * whole.abs() {
                row.time = 0.0;
            }
        }
    }

    /// Returns whether the function was called or took time.
    pub(crate) fn is_used(&self) -> bool {
        self.calls != 0 || self.time != 0.0 || self.estimate.is_some_and(|estimate| estimate.seen > 0)
    }

    /// Returns the number of calls, or its estimate.
    pub(crate) fn known_calls(&self) -> u64 {
        self.estimate.map_or(self.calls, |estimate| estimate.calls)
    }

    /// Returns the self time as a percentage of the function's total time, if the function took any time.
    pub(crate) fn own_percent(&self) -> Option<f64> {
        let all = self.time + self.children;
        (all != 0.0).then(|| 100.0 * self.time / all)
    }

    /// Returns the self time and the inclusive time of all calls together in samples, as far as they are known.
    fn times_of_calls(&self) -> (Option<f64>, Option<f64>) {
        match self.call_time {
            _ if self.known_calls() == 0 => (None, None),
            CallTime::Estimated { is_measured } => (Some(self.time), is_measured.then_some(self.time + self.children)),
            CallTime::Whole => (Some(self.time), Some(self.time + self.children)),
            CallTime::Own(time) => (Some(time), None),
            CallTime::Unknown => (None, None),
        }
    }

    /// Returns the name that orders rows.
    fn name(&self, functions: &Functions<'data>) -> &'data [u8] {
        self.inlined.unwrap_or(functions[self.function].name)
    }
}

/// A row of the flat profile as reports show it. Times are in the unit of the samples, normally seconds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FlatRow<'data> {
    /// The function.
    pub function: FunctionId,
    /// The symbol of a function that was inlined into `function`, if the row is about the inlined code.
    pub inlined: Option<&'data [u8]>,
    /// The self time as a percentage of the time of all rows.
    pub percent: f64,
    /// The self time of this row and of all rows above it.
    pub cumulative: f64,
    /// The self time. NaN or infinite if the profiles have no samples.
    pub self_time: f64,
    /// The standard error of the self time; 0 when the options do not ask for errors.
    pub error: f64,
    /// The number of calls by other functions.
    pub calls: u64,
    /// The estimated number of calls, if they were estimated and not counted. The times of one call are estimates then,
    /// too.
    pub estimate: Option<CallEstimate>,
    /// The self time of one call in the unit that [`Analysis::call_unit`](crate::Analysis::call_unit) returns; `None`
    /// without calls, and if calls were counted in some of the intervals only in which any calls were counted.
    pub self_per_call: Option<f64>,
    /// The inclusive time of one call in the same unit; `None` without calls, and if not all calls were counted.
    /// Estimated calls have it if stacks show the inclusive time.
    pub total_per_call: Option<f64>,
    /// The least and the longest inclusive time, if tail calls leave a doubt about the measured time.
    pub range: Option<(f64, f64)>,
}

impl<'data> FlatProfile<'data> {
    /// Makes the flat profile of all rows, which must be in the order of addresses. `is_listed` tells which rows the
    /// report lists; the others are kept as unused.
    pub(crate) fn new(
        rows: Vec<RowSamples<'data>>,
        is_listed: impl Fn(&RowSamples<'data>) -> bool,
        functions: &Functions<'data>,
        unit: CallTimeUnit,
        total: f64,
    ) -> FlatProfile<'data> {
        // Sorting the names of rows that are not listed would take longer than everything else.
        let (mut rows, unused): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_listed);
        rows.sort_by_key(|row| (Reverse((Ordered(row.time), row.known_calls())), row.name(functions)));
        FlatProfile { shown: rows.len(), rows, unused, unit, total, left_out: LeftOut::default() }
    }

    /// Returns the rows that the report shows. `rate` is the number of samples for each unit of time.
    pub(crate) fn numbered(&self, rate: f64) -> impl Iterator<Item = (&RowSamples<'data>, FlatRow<'data>)> {
        let (whole, factor) = (whole(self.total), self.unit.factor);
        let mut so_far = 0.0;
        self.rows.iter().take(self.shown).map(move |row| {
            so_far += row.time;
            let calls = row.known_calls() as f64;
            // The order of the operations decides the last bit of the result, and that bit may decide how the report
            // rounds the result.
            let of_call = |time: f64| factor * time / rate / calls;
            let (own, all) = row.times_of_calls();
            let numbers = FlatRow {
                function: row.function,
                inlined: row.inlined,
                percent: 100.0 * row.time / whole,
                cumulative: so_far / rate,
                self_time: row.time / rate,
                error: if row.error == 0.0 { 0.0 } else { row.error / rate },
                calls: row.calls,
                estimate: row.estimate,
                range: None,
                self_per_call: own.map(of_call),
                total_per_call: all.map(of_call),
            };
            (row, numbers)
        })
    }
}

/// The unit of the times for each call in the flat profile.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallTimeUnit {
    /// The prefix: `m` for milliseconds, a blank for seconds.
    pub prefix: char,
    /// The factor for a time in the unit of the samples: 1000 for milliseconds.
    pub factor: f64,
}

/// The flat profile.
#[derive(Debug)]
pub struct FlatProfile<'data> {
    /// The rows of functions that were called or took time, the longest time first; with `-z` the rows of all
    /// functions.
    pub rows: Vec<RowSamples<'data>>,
    /// How many rows the report shows: all, unless the user limits the report.
    pub shown: usize,
    /// The rows of functions that were not called and took no time, in the order of addresses; empty with `-z`.
    pub unused: Vec<RowSamples<'data>>,
    /// The unit of the times for each call.
    pub unit: CallTimeUnit,
    /// The number of samples that are 100 percent.
    pub total: f64,
    /// The rows beyond the limit.
    pub left_out: LeftOut,
}

/// Computes the flat profile.
pub(super) fn flat_profile<'data>(intermediate: &Intermediate<'_, 'data>, errors: &Errors) -> FlatProfile<'data> {
    let Intermediate { functions, flat, graph, innermost, rate, selections, options, wanted, profile, .. } =
        intermediate;
    let is_measured = intermediate.is_measured;
    let inlined = intermediate.inlined.filter(|inlined| !inlined.is_empty());
    let inlined = inlined.map(|inlined| inlined.times(profile.histograms(), innermost)).unwrap_or_default();
    let mut rows = RowSamples::all(functions, flat, graph);
    let on_demand = intermediate.on_demand_counts;
    for row in &mut rows {
        row.error = errors.of_row(row.function);
        row.call_time = match row.estimate {
            None => on_demand.map_or(CallTime::Whole, |counts: &OnDemandCounts| counts.time_of(row.function)),
            // Without an interval, nobody can tell how good the time is.
            Some(estimate) if graph.estimates().are_of_all_samples && estimate.interval.is_some() => {
                CallTime::Estimated { is_measured }
            }
            Some(_) => CallTime::Unknown,
        };
    }
    RowSamples::split(&mut rows, inlined, errors);
    for row in &mut rows {
        row.error = errors.of_part(row.error, row.time);
    }
    let unit = CallTimeUnit::new(options.rules.call_unit, &rows, *rate);
    rows.retain(|row| functions.is_whole(row.function) && selections.flat.selects(row.function));
    let mut profile = FlatProfile::new(rows, |row| options.unused || row.is_used(), functions, unit, flat.total);
    let left_out;
    (profile.shown, left_out) = limit::rows(profile.rows.iter().map(|row| row.time), flat.total, options.row_limit());
    // The footer does not mention a report that the user does not want.
    profile.left_out = if wanted.has(FLAT) { left_out } else { LeftOut::default() };
    profile
}

const PREFIXES: [(char, f64); 11] = [
    ('T', 1e-12),
    ('G', 1e-9),
    ('M', 1e-6),
    ('K', 1e-3),
    (' ', 1.0),
    ('m', 1e3),
    ('u', 1e6),
    ('n', 1e9),
    ('p', 1e12),
    ('f', 1e15),
    ('a', 1e18),
];

/// The index of the smallest unit that is chosen for functions with many calls: nanoseconds. No call takes less than a
/// part of a nanosecond, and the report shows the whole run in the same unit.
const SMALLEST: usize = 7;

/// Returns the longest time of a call with all that it called, in samples, among functions with at least `least_calls`
/// calls.
fn longest(rows: &[RowSamples<'_>], least_calls: u64) -> f64 {
    let called = rows.iter().filter(|row| row.known_calls() >= least_calls);
    let time_of_call = |row: &RowSamples<'_>| {
        let (own, all) = row.times_of_calls();
        all.or(own).map(|time| time / row.known_calls() as f64)
    };
    called.filter_map(time_of_call).fold(0.0, f64::max)
}

/// Returns the unit that shows most of the self time with one to three digits before the decimal point. Functions with
/// one call do not count: `main` takes seconds, and in seconds all other rows would be 0.00.
fn fitting_unit(rows: &[RowSamples<'_>], rate: f64) -> CallTimeUnit {
    let mut times = [0.0; PREFIXES.len()];
    for row in rows.iter().filter(|row| row.known_calls() > 1) {
        let Some(time) = row.times_of_calls().0.filter(|time| *time > 0.0) else { continue };
        times[place(time / row.known_calls() as f64 / rate).min(SMALLEST)] += time;
    }
    // If several units show equally much time, the largest unit wins.
    let most = times.iter().copied().fold(0.0, f64::max);
    match times.iter().position(|time| *time == most).filter(|_| most > 0.0) {
        Some(best) => CallTimeUnit::of(best),
        None if longest(rows, 2) > 0.0 => unit(longest(rows, 2) / rate),
        None => unit(longest(rows, 1) / rate),
    }
}

impl CallTimeUnit {
    /// Returns the unit for these rows. `rate` is the number of samples for each unit of time.
    pub(crate) fn new(rule: CallUnit, rows: &[RowSamples<'_>], rate: f64) -> CallTimeUnit {
        match rule {
            CallUnit::Fitting => fitting_unit(rows, rate),
            CallUnit::Longest => unit(longest(rows, 1) / rate),
            CallUnit::Clock if rate >= 1e7 => CallTimeUnit { prefix: 'n', factor: 1e9 },
            CallUnit::Clock if rate >= 1e4 => CallTimeUnit { prefix: 'u', factor: 1e6 },
            CallUnit::Clock | CallUnit::Milliseconds => CallTimeUnit { prefix: 'm', factor: 1e3 },
        }
    }

    fn of(place: usize) -> CallTimeUnit {
        let (prefix, factor) = PREFIXES[place];
        CallTimeUnit { prefix, factor }
    }
}

/// Returns the unit that shows the time of the longest call with one to three digits before the decimal point.
fn unit(longest: f64) -> CallTimeUnit {
    CallTimeUnit::of(place(longest))
}

/// Returns the index of the unit that shows a time with one to three digits before the decimal point.
fn place(time: f64) -> usize {
    let fits = |(_, factor): &(char, f64)| (1.0..1000.0).contains(&(factor * time));
    // No time at all is shown in the first unit, and a time that fits no unit in the last.
    let fallback = if time > 0.0 { PREFIXES.len() - 1 } else { 0 };
    PREFIXES.iter().position(fits).unwrap_or(fallback)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;

    #[test]
    fn units_of_calls() {
        let prefix = |longest| unit(longest).prefix;
        assert_eq!(prefix(0.0), 'T');
        assert_eq!(prefix(2.5), ' ');
        assert_eq!(prefix(0.999), 'm');
        assert_eq!(prefix(1e-3), 'm');
        assert_eq!(prefix(2e-6), 'u');
        assert_eq!(prefix(1e-30), 'a');
        assert_eq!(prefix(f64::NAN), 'T');
    }

    #[test]
    fn the_unit_fits_what_is_called_often() {
        let symbol = Symbol { address: 0x100, name: b"f", is_static: false, is_func: true };
        let function = Functions::new(vec![symbol], 0x200).ids().next().unwrap();
        let prefix = |rows: &[(f64, f64, u64)]| {
            let row = |&(time, children, calls): &(f64, f64, u64)| RowSamples {
                function,
                inlined: None,
                time,
                error: 0.0,
                calls,
                estimate: None,
                children,
                call_time: CallTime::Whole,
            };
            fitting_unit(&rows.iter().map(row).collect::<Vec<_>>(), 100.0).prefix
        };
        // Samples of a hundredth of a second: `main` is called once, and calls another function a million times.
        let (main, often, seldom) = ((1.0, 150.0, 1), (60.0, 0.0, 1_000_000), (40.0, 60.0, 40));
        assert_eq!(prefix(&[main]), ' ', "nothing else was called");
        assert_eq!(prefix(&[main, often]), 'n');
        assert_eq!(prefix(&[main, often, seldom]), 'n', "most of the time");
        assert_eq!(prefix(&[main, (30.0, 0.0, 1_000_000), seldom]), 'm', "most of the time is elsewhere");
        assert_eq!(prefix(&[main, (0.0, 100.0, 1000)]), 'm', "no self time at all");
        assert_eq!(prefix(&[main, (60.0, 0.0, 1_000_000_000)]), 'n', "0.60 ns");
        assert_eq!(PREFIXES[SMALLEST].0, 'n');
        assert_eq!(prefix(&[(0.0, 0.0, 5)]), 'T');
    }

    fn row(function: FunctionId, time: f64, children: f64) -> RowSamples<'static> {
        RowSamples {
            function,
            inlined: None,
            time,
            error: 0.0,
            calls: 5,
            estimate: None,
            children,
            call_time: CallTime::Whole,
        }
    }

    fn function() -> FunctionId {
        let symbol = Symbol { address: 0x100, name: b"f", is_static: false, is_func: true };
        Functions::new(vec![symbol], 0x200).ids().next().unwrap()
    }

    #[test]
    fn without_self_time_the_unit_fits_the_longest_call() {
        // 50 samples of a hundredth of a second for each call.
        assert_eq!(fitting_unit(&[row(function(), 0.0, 250.0)], 100.0).prefix, 'm');
    }

    #[test]
    fn the_self_time_is_a_part_of_the_total_time() {
        let percent = |time, children| row(function(), time, children).own_percent();
        assert_eq!((percent(1.0, 3.0), percent(5.0, 0.0), percent(0.0, 0.0)), (Some(25.0), Some(100.0), None));
    }

    #[test]
    fn what_rounding_leaves_of_inlined_code_is_no_time() {
        let left = |whole: f64, inlined: f64| {
            let mut rows = vec![row(function(), whole, 1.0)];
            let time = InlinedTime { place: 0, inside: function(), name: b"inner", time: inlined };
            RowSamples::split(&mut rows, vec![time], &Errors::default());
            assert_eq!(
                (rows[0].children, rows[1].time, rows[1].inlined),
                (1.0 + inlined, inlined, Some(&b"inner"[..]))
            );
            rows[0].time
        };
        assert_eq!((left(1e6, 1e6 - 1e-4), left(0.5, 0.5 - 1e-12), left(4.0, 3.0)), (0.0, 0.0, 1.0));
        assert!(left(1e-3, 1e-3 - 1e-8) > 0.0);
    }
}
