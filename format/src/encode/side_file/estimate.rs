//! Calls that were estimated from short windows.

use super::numbers::{LARGEST_NUMBER, number, zigzag};
use super::place::Place;
use crate::encode::Sink;

/// The most bytes of what stands before the rows of a part of estimates.
pub const LARGEST_WINDOWS: usize = 4 * LARGEST_NUMBER;
/// The most bytes of a row of estimates.
pub const LARGEST_ESTIMATE: usize = 8 * LARGEST_NUMBER;

/// Encodes the rows of one part of estimates.
///
/// Rows ascend by called function. The row of all callers of a function comes first, and then the rows of its callers,
/// which ascend too. A writer with a small buffer writes several parts, each of which begins with the same windows. A
/// part may end between two rows of a function. A reader must know the part, so the part has the flag
/// [`REQUIRED`](crate::layout::side_file::REQUIRED).
///
/// ```
/// # use gmon::encode::side_file::{EstimateEncoder, Measure, Piece, Place};
/// # use gmon::layout::side_file::{ESTIMATES, REQUIRED};
/// let mut buffer = [0; 256];
/// let mut out = Piece::new(&mut buffer);
/// // 1 % of 300 seconds, in 300 windows.
/// let mut rows = EstimateEncoder::begin(&mut out, 10_000, 300, 3_010_000_000, 300_000_000_000);
/// let callee = Place { object: 0, address: 0x1010 };
/// rows.all_callers(&mut out, callee, 240, 1_200_000, 81_000_000);
/// rows.caller(&mut out, Place { object: 0, address: 0x1105 }, callee, 240, 1_200_000, 81_000_000);
/// let mut file = Measure::default();
/// assert!(out.flush_with(&mut file, ESTIMATES, REQUIRED));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EstimateEncoder {
    caller: u64,
    callee: u64,
}

impl EstimateEncoder {
    /// Writes from what the calls were estimated. `share` is the share of the time that the windows cover as the user
    /// asked for it, in millionths. `windows` is the number of windows, `window_time` the length of all windows
    /// together, and `time` the time for which the estimates stand. Both times are CPU time in nanoseconds.
    pub fn begin<S: Sink>(out: &mut S, share: u64, windows: u64, window_time: u64, time: u64) -> EstimateEncoder {
        for value in [share, windows, window_time, time] {
            number(out, value);
        }
        EstimateEncoder::default()
    }

    /// Writes the calls of a function from all callers. `seen` is the number of windows in which calls were seen, at
    /// least 1. `estimate` is the estimated number of calls, and `variance` the variance of the estimate.
    pub fn all_callers<S: Sink>(&mut self, out: &mut S, callee: Place, seen: u64, estimate: u64, variance: u128) {
        number(out, 0);
        self.row(out, callee, seen, estimate, variance);
    }

    /// Writes the calls of a function from one caller, which is a return address.
    pub fn caller<S: Sink>(
        &mut self,
        out: &mut S,
        caller: Place,
        callee: Place,
        seen: u64,
        estimate: u64,
        variance: u128,
    ) {
        number(out, u64::from(caller.object).saturating_add(1));
        number(out, zigzag(caller.address.wrapping_sub(self.caller)));
        self.caller = caller.address;
        self.row(out, callee, seen, estimate, variance);
    }

    fn row<S: Sink>(&mut self, out: &mut S, callee: Place, seen: u64, estimate: u64, variance: u128) {
        number(out, u64::from(callee.object));
        number(out, zigzag(callee.address.wrapping_sub(self.callee)));
        self.callee = callee.address;
        for value in [seen, estimate, (variance >> u64::BITS) as u64, variance as u64] {
            number(out, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::piece::Piece;
    use super::*;

    /// Fails if a size that callers ask for is too small, or is larger than needed by a whole number.
    #[test]
    fn the_largest_items_fit_the_sizes_that_callers_ask_for() {
        let mut buffer = [0; LARGEST_WINDOWS + LARGEST_ESTIMATE];
        let mut out = Piece::new(&mut buffer);
        let _ = EstimateEncoder::begin(&mut out, u64::MAX, u64::MAX, u64::MAX, u64::MAX);
        let before = out.content().len();
        assert_eq!(before, LARGEST_WINDOWS);
        let mut rows = EstimateEncoder { caller: 1 << 63, callee: 1 << 63 };
        let place = Place { object: u32::MAX, address: 0 };
        rows.caller(&mut out, place, place, u64::MAX, u64::MAX, u128::MAX);
        let size = out.content().len() - before;
        assert!(size <= LARGEST_ESTIMATE && size > LARGEST_ESTIMATE - 2 * LARGEST_NUMBER, "{size} bytes");
    }
}
