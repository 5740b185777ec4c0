//! The flat profile for programs: rows as values instead of text.

use super::names;
use crate::analysis::Analysis;

/// A function in the flat profile.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HotFunction {
    /// The name as reports show the name.
    pub name: String,
    /// The function's own time, without what it called: in seconds, or whatever the samples measure. Not a
    /// number when the profiles have no samples.
    pub self_time: f64,
    /// What part of the time of the whole program that is, in percent.
    pub percent: f64,
    /// How often others called the function.
    pub calls: u64,
}

impl Analysis<'_> {
    /// The functions of the flat profile, the longest time first.
    pub fn hottest(&self) -> impl Iterator<Item = HotFunction> {
        self.flat_rows().map(|(row, numbers)| HotFunction {
            name: String::from_utf8_lossy(&names::of_row(self, row)).into_owned(),
            self_time: numbers.own,
            percent: numbers.percent,
            calls: row.calls,
        })
    }
}
