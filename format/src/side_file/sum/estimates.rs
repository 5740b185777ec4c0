//! Adds up calls that were estimated from windows.
//!
//! The windows of several runs are independent, so estimates and variances add up.

use alloc::vec::Vec;

use crate::Part;
use crate::encode::side_file::Place;
use crate::side_file::content::{Added, Refused, SideFile};
use crate::side_file::estimates::{EstimatedCalls, Estimates, Windows, join};

/// The estimates of all files that have any.
#[derive(Clone, Debug, Default)]
pub(super) struct EstimateSums {
    windows: Option<Windows>,
    /// The rows of all files. Those of the same places are not joined yet.
    rows: Vec<EstimatedCalls>,
    /// The number of rows when they were joined last.
    joined: usize,
}

/// The sums over all files. If a total fits, so does each sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EstimateTotals {
    numbers: [u64; 4],
    variance: u128,
}

impl EstimateTotals {
    /// The totals with a file. `sum` adds two numbers whose sum may not fit.
    pub(super) fn plus(self, file: &SideFile, sum: impl Fn(u64, u64) -> Added<u64>) -> Added<EstimateTotals> {
        let Some(estimates) = file.estimates() else { return Ok(self) };
        let Windows { number, covered, time, .. } = estimates.windows();
        let [windows, all_covered, all_time, calls] = self.numbers;
        let numbers = [
            sum(windows, number)?,
            sum(all_covered, covered)?,
            sum(all_time, time)?,
            sum(calls, estimates.calls_total)?,
        ];
        let variance = self.variance.checked_add(estimates.variance_total);
        let variance = variance.ok_or(Refused(Part::Count, estimates.calls_total))?;
        Ok(EstimateTotals { numbers, variance })
    }
}

impl EstimateSums {
    /// Adds the estimates of a file. `place` translates their places to those of the sum. All totals fit.
    pub(super) fn add(&mut self, file: &SideFile, place: impl Fn(Place) -> Place) {
        let Some(estimates) = file.estimates() else { return };
        let more = estimates.windows();
        self.windows = Some(match self.windows {
            None => more,
            Some(known) => Windows {
                share: if known.share == more.share { known.share } else { 0 },
                number: known.number.saturating_add(more.number),
                covered: known.covered.saturating_add(more.covered),
                time: known.time.saturating_add(more.time),
            },
        });
        let rows = estimates.moved(&place, &place).into_rows();
        if self.rows.is_empty() {
            self.rows = rows;
        } else {
            self.rows.extend(rows);
        }
        // Each row is sorted a few times, whatever the number of files.
        if self.rows.len() > self.joined.saturating_mul(2) {
            join(&mut self.rows);
            self.joined = self.rows.len();
        }
    }

    /// The estimates of the sum. `place` translates the places.
    pub(super) fn finish(mut self, place: impl Fn(Place) -> Place) -> Option<Estimates> {
        join(&mut self.rows);
        Some(Estimates::from_rows(self.windows?, self.rows).moved(&place, &place))
    }
}
