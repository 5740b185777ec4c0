//! Which calls were counted on demand, and when.

use super::numbers::{LARGEST_NUMBER, number, string, zigzag};
use super::place::Place;
use crate::encode::Sink;

/// The most bytes of a function of a selection.
pub const LARGEST_FUNCTION: usize = 2 * LARGEST_NUMBER;
/// The most bytes of an interval of a selection.
pub const LARGEST_INTERVAL: usize = 2 * LARGEST_NUMBER;

/// Encodes a selection of a part of selections: a pattern, the functions that the pattern selected, and the intervals
/// in which the calls of these functions were counted.
///
/// A part has any number of whole selections. A part without a selection says that calls are counted on demand, and
/// that nobody demanded it.
///
/// ```
/// # use gmon::encode::side_file::{Piece, Place, SelectionEncoder};
/// let mut buffer = [0; 64];
/// let mut out = Piece::new(&mut buffer);
/// let mut selection = SelectionEncoder::begin(&mut out, b"parse*", 2);
/// for address in [0x1010, 0x1050] {
///     selection.function(&mut out, Place { object: 0, address });
/// }
/// selection.begin_intervals(&mut out, 1);
/// selection.interval(&mut out, 1_000_000_000, 3_000_000_000);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectionEncoder {
    /// The address of the last function.
    address: u64,
    /// The end of the last interval.
    end: u64,
}

impl SelectionEncoder {
    /// Writes the pattern that the user gave, empty for all functions. As many [functions](Self::function) follow as
    /// `functions` says.
    pub fn begin<S: Sink>(out: &mut S, pattern: &[u8], functions: u64) -> SelectionEncoder {
        string(out, pattern);
        number(out, functions);
        SelectionEncoder::default()
    }

    /// Writes a function: the place that counts of calls have for the called function. Each place is above the one
    /// before, by object and then by address.
    pub fn function<S: Sink>(&mut self, out: &mut S, place: Place) {
        number(out, u64::from(place.object));
        number(out, zigzag(place.address.wrapping_sub(self.address)));
        self.address = place.address;
    }

    /// Ends the functions. As many [intervals](Self::interval) follow as `intervals` says.
    pub fn begin_intervals<S: Sink>(&mut self, out: &mut S, intervals: u64) {
        number(out, intervals);
    }

    /// Writes an interval. Both times are in nanoseconds since the start of the profile. The part of an interval that
    /// is before the end of the interval before is left out.
    pub fn interval<S: Sink>(&mut self, out: &mut S, begin: u64, end: u64) {
        let begin = begin.max(self.end);
        let end = end.max(begin);
        number(out, begin.wrapping_sub(self.end));
        number(out, end.wrapping_sub(begin));
        self.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::super::piece::Piece;
    use super::*;

    #[test]
    fn times_that_go_back_are_cut() {
        let mut buffer = [0; LARGEST_INTERVAL * 3];
        let mut out = Piece::new(&mut buffer);
        let mut selection = SelectionEncoder::default();
        for (begin, end) in [(5, 9), (7, 12), (20, 18)] {
            selection.interval(&mut out, begin, end);
        }
        assert_eq!(out.content(), [5, 4, 0, 3, 8, 0]);
    }

    #[test]
    fn the_largest_items_fit_the_sizes_that_callers_ask_for() {
        let mut buffer = [0; LARGEST_FUNCTION + LARGEST_INTERVAL];
        let mut out = Piece::new(&mut buffer);
        let mut selection = SelectionEncoder { address: 1 << 63, end: 0 };
        selection.function(&mut out, Place { object: u32::MAX, address: 0 });
        assert!(out.content().len() <= LARGEST_FUNCTION);
        let before = out.content().len();
        selection.interval(&mut out, u64::MAX, u64::MAX);
        assert!(out.content().len() - before <= LARGEST_INTERVAL);
    }
}
