//! The table of functions: its rows in the order that the user wants, and their text.

use std::cmp::Reverse;

use crate::model::moment::{FunctionCounts, Moment};
use crate::model::ordered::Ordered;
use crate::program::symbols::functions::FunctionId;

/// Returns the name of a function, without control characters.
pub(super) type Names<'a> = dyn Fn(FunctionId) -> String + 'a;

/// A column by which the table can be sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Column {
    #[default]
    Own,
    Inclusive,
    Calls,
    Name,
}

impl Column {
    pub(super) const ALL: [Column; 4] = [Column::Own, Column::Inclusive, Column::Calls, Column::Name];
}

/// The order of the rows, and which rows there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Choice<'a> {
    pub(super) column: Column,
    pub(super) is_reversed: bool,
    /// A text that names must contain; capital letters count as small ones.
    pub(super) filter: &'a str,
    /// The number of rows at most.
    pub(super) top: Option<usize>,
}

/// The rows of a moment.
pub(super) struct Table<'a> {
    moment: &'a Moment,
    /// The number of seconds that the counts are divided by.
    seconds: Option<f64>,
    has_inclusive: bool,
    pub(super) rows: Vec<FunctionCounts>,
}

impl<'a> Table<'a> {
    /// Sorts and filters the functions of a moment. The counts of `seconds` are shown for each second.
    pub(super) fn new(moment: &'a Moment, seconds: Option<f64>, choice: Choice<'_>, names: &Names<'_>) -> Table<'a> {
        let filter = choice.filter.to_lowercase();
        let is_chosen =
            |counts: &&FunctionCounts| filter.is_empty() || names(counts.id).to_lowercase().contains(&filter);
        let mut rows: Vec<FunctionCounts> = moment.functions.iter().filter(is_chosen).copied().collect();
        let inclusive = |counts: &FunctionCounts| Ordered(counts.inclusive.unwrap_or(0.0));
        match choice.column {
            Column::Own => rows.sort_by_key(|counts| Reverse((Ordered(counts.own), inclusive(counts), counts.calls))),
            Column::Inclusive => rows.sort_by_key(|counts| Reverse((inclusive(counts), Ordered(counts.own)))),
            Column::Calls => rows.sort_by_key(|counts| Reverse((counts.calls, Ordered(counts.own)))),
            Column::Name => rows.sort_by_cached_key(|counts| names(counts.id)),
        }
        if choice.is_reversed {
            rows.reverse();
        }
        rows.truncate(choice.top.unwrap_or(usize::MAX));
        let has_inclusive = moment.functions.first().is_some_and(|counts| counts.inclusive.is_some());
        Table { moment, seconds, has_inclusive, rows }
    }

    /// The line above the rows. A mark is at the column that sorts the rows.
    pub(super) fn heading(&self, choice: Choice<'_>) -> String {
        let mark = |column, text: &str| {
            let arrow = if choice.is_reversed { '▲' } else { '▼' };
            if choice.column == column { format!("{arrow}{text}") } else { text.to_owned() }
        };
        let per = if self.seconds.is_some() { "/s" } else { "" };
        let own = mark(Column::Own, &format!("self s{per}"));
        let inclusive = mark(Column::Inclusive, &format!("incl. s{per}"));
        let inclusive = if self.has_inclusive { format!("{inclusive:>11}") } else { String::new() };
        let calls = mark(Column::Calls, &format!("calls{per}"));
        format!("{:>8}{own:>11}{inclusive}{calls:>15}  {}", "self %", mark(Column::Name, "name"))
    }

    /// The line of a row.
    pub(super) fn line(&self, counts: &FunctionCounts, names: &Names<'_>) -> String {
        let seconds = self.seconds.unwrap_or(1.0);
        let inclusive = counts.inclusive.filter(|_| self.has_inclusive);
        let inclusive = inclusive.map_or(String::new(), |time| format!("{:>11.2}", time / seconds));
        let calls = match self.seconds {
            Some(seconds) => format!("{:.0}", counts.calls as f64 / seconds),
            None => counts.calls.to_string(),
        };
        let (percent, own) = (self.percent(counts), counts.own / seconds);
        format!("{percent:>8.2}{own:>11.2}{inclusive}{calls:>15}  {}", names(counts.id))
    }

    /// The self time of a row as a percentage of the time of all functions.
    pub(super) fn percent(&self, counts: &FunctionCounts) -> f64 {
        if self.moment.total > 0.0 { 100.0 * counts.own / self.moment.total } else { 0.0 }
    }
}
