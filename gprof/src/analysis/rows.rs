//! The rows of the flat profile.

use std::cmp::Reverse;

use super::{Analysed, Errors};
use crate::flat::Flat;
use crate::functions::{FunctionId, Functions};
use crate::graph::Graph;
use crate::inlines::InlinedTime;
use crate::number::Ordered;

/// A row of the flat profile.
#[derive(Debug)]
pub struct FlatRow<'data> {
    /// The function.
    pub function: FunctionId,
    /// The name of a function that was inlined into it, if the row is about that.
    pub inlined: Option<&'data [u8]>,
    /// Its own time, in samples.
    pub time: f64,
    /// The standard error of that, in samples. 0 when nobody asked for it.
    pub error: f64,
    /// How often others called it.
    pub calls: u64,
    /// The time of what it called, in samples.
    pub children: f64,
}

impl<'data> FlatRow<'data> {
    /// The rows of all functions, in the order of their addresses.
    pub(crate) fn all(functions: &Functions<'data>, flat: &Flat, graph: &Graph) -> Vec<FlatRow<'data>> {
        let row = |function: FunctionId| FlatRow {
            function,
            inlined: None,
            time: flat.time[function.index()],
            error: 0.0,
            calls: graph.calls(function),
            children: graph.share(function).all_children,
        };
        functions.ids().map(row).collect()
    }

    /// Gives inlined functions rows of their own; what is left of the function around them is its own code.
    fn split(rows: &mut Vec<FlatRow<'data>>, inlined: Vec<InlinedTime<'data>>, errors: &Errors) {
        /// Sums of shares of samples are off by this part of them at most, which is no time: a bin has far fewer bytes.
        const ROUNDING: f64 = 1e-9;
        let whole: Vec<f64> = rows.iter().map(|row| row.time).collect();
        for InlinedTime { place, inside: function, name, time } in inlined {
            // Rows are in the order of functions still.
            let around = &mut rows[function.index()];
            around.time -= time;
            around.children += time;
            let error = errors.of_inlined(place);
            rows.push(FlatRow { function, inlined: Some(name), time, error, calls: 0, children: 0.0 });
        }
        for (row, whole) in rows.iter_mut().zip(whole) {
            if row.time.abs() <= ROUNDING * whole.abs() {
                row.time = 0.0;
            }
        }
    }

    /// The name by which rows are ordered.
    fn name(&self, functions: &Functions<'data>) -> &'data [u8] {
        self.inlined.unwrap_or(functions[self.function].name)
    }
}

/// The unit in which times for each call are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its prefix.
    pub prefix: char,
    /// By how much a number in the clock's own unit is multiplied.
    pub factor: f64,
}

/// The flat profile.
#[derive(Debug)]
pub struct FlatTable<'data> {
    /// The rows to show, the longest time first.
    pub rows: Vec<FlatRow<'data>>,
    /// The unit of times for each call.
    pub unit: Unit,
    /// All samples.
    pub total: f64,
}

/// The flat profile.
pub(super) fn flat_table<'data>(
    analysed: &Analysed<'_, 'data>,
    inlined: Vec<InlinedTime<'data>>,
    rate: f64,
) -> FlatTable<'data> {
    let Analysed { functions, flat, graph, selections, errors, options, .. } = analysed;
    let mut rows = FlatRow::all(functions, flat, graph);
    for row in &mut rows {
        row.error = errors.of_row(row.function);
    }
    FlatRow::split(&mut rows, inlined, errors);
    let longest = rows
        .iter()
        .filter(|row| row.calls != 0)
        .map(|row| (row.time + row.children) / row.calls as f64)
        .fold(0.0, f64::max);
    rows.retain(|row| {
        let has_any = options.unused || row.calls != 0 || row.time != 0.0;
        has_any && functions.is_whole(row.function) && selections.flat.chooses(row.function)
    });
    rows.sort_by_key(|row| (Reverse((Ordered(row.time), row.calls)), row.name(functions)));
    let unit = if options.traditional { MILLISECONDS } else { unit(longest / rate) };
    FlatTable { rows, unit, total: flat.total }
}

/// The unit of the BSDs.
const MILLISECONDS: Unit = Unit { prefix: 'm', factor: 1e3 };

/// The unit for times of calls of which the longest took `longest`: the one that shows it with one to three digits
/// before the point.
fn unit(longest: f64) -> Unit {
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
    let fits = |(_, factor): &&(char, f64)| (1.0..1000.0).contains(&(factor * longest));
    // No time at all is shown in the first unit, and what fits no unit in the last.
    let fallback = if longest > 0.0 { PREFIXES[10] } else { PREFIXES[0] };
    let (prefix, factor) = PREFIXES.iter().find(fits).copied().unwrap_or(fallback);
    Unit { prefix, factor }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
