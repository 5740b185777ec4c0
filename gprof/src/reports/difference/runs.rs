//! The rows of a comparison of several runs: the columns that the text and the table have.

use super::{cells, verdict};
use crate::model::{Difference, DifferenceRow, Judgement, Presence};
use crate::reports::number::Fixed;

/// A column: the lines of its title, its width in a text, and its rank among the columns that a narrow table leaves out
/// first; `None` for a column that stays.
pub(crate) struct Column {
    pub(crate) title: [&'static str; 2],
    pub(crate) width: usize,
    pub(crate) rank: Option<u8>,
}

const fn column(title: [&'static str; 2], width: usize, rank: Option<u8>) -> Column {
    Column { title, width, rank }
}

/// The columns before the name.
pub(crate) const COLUMNS: [Column; 16] = [
    column(["self", "base"], 9, Some(6)),
    column(["self", "now"], 9, None),
    column(["self", "change"], 9, Some(5)),
    column(["self", "%"], 8, None),
    column(["self", "±"], 7, Some(7)),
    column(["self", "p"], 8, Some(8)),
    column(["self", "visible"], 9, Some(4)),
    column(["inclusive", "base"], 11, Some(1)),
    column(["inclusive", "now"], 9, Some(2)),
    column(["inclusive", "%"], 8, Some(3)),
    column(["inclusive", "±"], 7, Some(0)),
    column(["inclusive", "p"], 8, Some(0)),
    column(["calls", "base"], 12, Some(1)),
    column(["calls", "now"], 12, Some(3)),
    column(["calls", "%"], 8, Some(4)),
    column(["", "mark"], 9, None),
];

/// Returns whether the rows of a difference are those of several runs.
pub(crate) fn are_several(difference: &Difference<'_, '_>) -> bool {
    difference.runs.counts.iter().any(|count| *count > 1)
}

/// Returns the cells of a row, without the name.
pub(crate) fn cells(row: &DifferenceRow) -> [String; COLUMNS.len()] {
    let fixed = |number: f64| format!("{:.2}", Fixed(number));
    let p = |time: &Judgement| time.corrected.map(verdict::p).unwrap_or_default();
    let percent = |time: &Judgement| verdict::percent(time.percent(time.change()));
    let own = &row.runs.own;
    let visible = own.visible.and_then(|visible| own.percent(visible));
    let inclusive = row.runs.inclusive.as_ref();
    let of_inclusive = |of: &dyn Fn(&Judgement) -> String| inclusive.map(of).unwrap_or_default();
    let count = |number: f64| if number.fract() == 0.0 { format!("{number:.0}") } else { format!("{number:.1}") };
    let calls = match row.runs.calls {
        // Estimates, or numbers that are not compared.
        _ if row.calls.error.is_some() || row.calls.absolute().is_nan() => {
            let [base, new, change, percent] = cells::calls(&row.calls);
            [base, new, if percent.is_empty() { change } else { percent }]
        }
        of_runs => [
            count(row.calls.old),
            count(row.calls.new),
            of_runs.map(|calls| verdict::percent(calls.percent())).unwrap_or_default(),
        ],
    };
    let [base_calls, new_calls, calls_percent] = calls;
    [
        fixed(own.base),
        fixed(own.new),
        cells::signed(own.change()),
        percent(own),
        verdict::half_width(own),
        p(own),
        visible.map(|percent| format!("{percent:.1}")).unwrap_or_default(),
        fixed(row.inclusive.old),
        fixed(row.inclusive.new),
        of_inclusive(&percent),
        of_inclusive(&verdict::half_width),
        of_inclusive(&p),
        base_calls,
        new_calls,
        calls_percent,
        mark(row).to_owned(),
    ]
}

/// Returns what is to be known of a row.
pub(crate) fn mark(row: &DifferenceRow) -> &'static str {
    let own = &row.runs.own;
    match (row.presence, own.is_certain, own.corrected, own.change() > 0.0) {
        (Presence::Added, ..) => "added",
        (Presence::Removed, ..) => "removed",
        (Presence::Both, true, _, true) => "slower",
        (Presence::Both, true, _, false) => "faster",
        (Presence::Both, false, None, _) => "few",
        (Presence::Both, false, Some(_), _) => "noise",
    }
}
