//! Calls that were estimated from short windows.

use alloc::vec::Vec;

use super::refused::{Added, Refused};
use crate::Part;
use crate::encode::side_file::Place;
use crate::layout::side_file::WHOLE_SHARE;

/// The windows in which calls were counted. The CPU time of the run is divided into stretches, and each stretch has one
/// window at a random place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// The share of the time that the windows cover as the user asked for it, in millionths. 0 in a sum of files with
    /// different shares.
    pub share: u64,
    /// The number of windows.
    pub number: u64,
    /// The length of all windows together, in nanoseconds of CPU time.
    pub covered: u64,
    /// The CPU time in nanoseconds for which the estimates stand.
    pub time: u64,
}

/// The estimated calls of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EstimatedCalls {
    /// The called function.
    pub callee: Place,
    /// The place in the caller: the return address of the calls. `None` for the calls from all callers.
    pub caller: Option<Place>,
    /// The number of windows in which calls were seen, at least 1.
    pub seen: u64,
    /// The estimated number of calls during the whole [time](Windows::time).
    pub calls: u64,
    /// The variance of that number.
    pub variance: u128,
}

/// Estimates of calls, and the windows that they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimates {
    pub(super) windows: Windows,
    /// Ascending by called function and then by caller. The row of all callers is the first row of each function.
    rows: Vec<EstimatedCalls>,
    /// The sums of all rows, which fit.
    pub(super) calls_total: u64,
    pub(super) variance_total: u128,
}

impl Estimates {
    /// The windows.
    #[must_use]
    pub fn windows(&self) -> Windows {
        self.windows
    }

    /// The calls of each function that was called in a window: first those from all callers, and then those from each
    /// caller. Functions ascend, and so do the callers of a function.
    #[must_use]
    pub fn rows(&self) -> &[EstimatedCalls] {
        &self.rows
    }

    /// Makes estimates without rows.
    pub(super) fn new(windows: Windows) -> Added<Estimates> {
        if windows.share > WHOLE_SHARE {
            return Err(Refused(Part::Share, windows.share));
        }
        Ok(Estimates { windows, ..Estimates::default() })
    }

    /// Adds a row above all others.
    pub(super) fn push(&mut self, row: EstimatedCalls) -> Added<()> {
        let last = self.rows.last();
        let is_above = match row.caller {
            None => last.is_none_or(|last| last.callee < row.callee),
            // A function has a row of all callers, if it has a row.
            Some(_) => last.is_some_and(|last| last.callee == row.callee && last.caller < row.caller),
        };
        if !is_above {
            return Err(Refused(Part::EstimatedFunction, row.callee.address));
        }
        if row.seen == 0 || row.seen > self.windows.number {
            return Err(Refused(Part::SeenWindows, row.seen));
        }
        let totals = (self.calls_total.checked_add(row.calls), self.variance_total.checked_add(row.variance));
        let (Some(calls), Some(variance)) = totals else { return Err(Refused(Part::Count, row.calls)) };
        (self.calls_total, self.variance_total) = (calls, variance);
        self.rows.push(row);
        Ok(())
    }

    /// Makes room for rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows);
    }

    /// The same estimates with other places. Rows that get the same places become one row.
    pub(super) fn moved(&self, place: impl Fn(Place) -> Place, caller: impl Fn(Place) -> Place) -> Estimates {
        let moved = |row: &EstimatedCalls| EstimatedCalls {
            callee: place(row.callee),
            caller: row.caller.map(&caller),
            ..*row
        };
        let mut rows: Vec<EstimatedCalls> = self.rows.iter().map(moved).collect();
        join(&mut rows);
        // Calls from two callers may be in one window.
        rows.iter_mut().for_each(|row| row.seen = row.seen.min(self.windows.number));
        Estimates::from_rows(self.windows, rows)
    }

    /// Estimates with these rows, whose sums fit.
    pub(super) fn from_rows(windows: Windows, rows: Vec<EstimatedCalls>) -> Estimates {
        let (mut calls_total, mut variance_total) = (0_u64, 0_u128);
        for row in &rows {
            calls_total = calls_total.saturating_add(row.calls);
            variance_total = variance_total.saturating_add(row.variance);
        }
        Estimates { windows, rows, calls_total, variance_total }
    }

    /// Moves the rows out.
    pub(super) fn into_rows(self) -> Vec<EstimatedCalls> {
        self.rows
    }
}

/// Sorts rows, and adds up those of the same places. The row of all callers comes before those of single callers. All
/// sums fit.
pub(super) fn join(rows: &mut Vec<EstimatedCalls>) {
    rows.sort_unstable_by_key(|row| (row.callee, row.caller));
    rows.dedup_by(|later, earlier| {
        let is_same = (later.callee, later.caller) == (earlier.callee, earlier.caller);
        if is_same {
            earlier.seen = earlier.seen.saturating_add(later.seen);
            earlier.calls = earlier.calls.saturating_add(later.calls);
            earlier.variance = earlier.variance.saturating_add(later.variance);
        }
        is_same
    });
}
