//! Calls that were counted on demand: which, and when.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::encode::side_file::Place;

/// Functions whose calls were counted in some intervals of a run.
///
/// Times are in nanoseconds since the start of the profile. The [sum](crate::side_file::Accumulator) of several files
/// keeps how long calls were counted, and not when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub(super) pattern: Box<[u8]>,
    /// Ascending.
    pub(super) functions: Box<[Place]>,
    /// Ascending. No two overlap.
    pub(super) intervals: Box<[Range<u64>]>,
}

impl Selection {
    /// Makes a selection. Functions and intervals may come in any order. What two intervals have in common is in the
    /// first one only, and an interval that ends before its start is left out.
    #[must_use]
    pub fn new(pattern: &[u8], functions: Vec<Place>, intervals: Vec<Range<u64>>) -> Selection {
        Selection { pattern: pattern.into(), functions: in_order(functions), intervals: disjoint(intervals) }
    }

    /// The pattern that the user gave; empty for all functions.
    #[must_use]
    pub fn pattern(&self) -> &[u8] {
        &self.pattern
    }

    /// The functions that the pattern selected, in ascending order: the places that counts of calls have for the called
    /// function.
    #[must_use]
    pub fn functions(&self) -> &[Place] {
        &self.functions
    }

    /// The intervals, in ascending order.
    #[must_use]
    pub fn intervals(&self) -> &[Range<u64>] {
        &self.intervals
    }

    /// The length of all intervals together, in nanoseconds.
    #[must_use]
    pub fn time(&self) -> u64 {
        // The intervals do not overlap, so the sum fits.
        self.intervals.iter().fold(0, |sum, interval| sum.saturating_add(length(interval)))
    }

    /// Whether the selection stands for the runs in which all calls were counted. The sum of such runs and of runs with
    /// calls on demand has one selection of this kind. The [time](Self::time) of the selection is the length of the
    /// runs in which all calls were counted, or 0 if the length of a run is not known.
    #[must_use]
    pub fn is_of_whole_runs(&self) -> bool {
        self.pattern.is_empty() && self.functions.is_empty()
    }
}

/// The time that the intervals of selections cover.
pub(super) fn covered<'a>(selections: impl Iterator<Item = &'a Selection>) -> u64 {
    let intervals = selections.flat_map(|selection| &selection.intervals).cloned();
    disjoint(intervals.collect()).iter().fold(0, |sum, interval| sum.saturating_add(length(interval)))
}

/// Sorts functions, and leaves out repetitions.
pub(super) fn in_order(mut functions: Vec<Place>) -> Box<[Place]> {
    functions.sort_unstable();
    functions.dedup();
    functions.into()
}

/// Sorts intervals, and leaves out what is in an earlier one.
pub(super) fn disjoint(mut intervals: Vec<Range<u64>>) -> Box<[Range<u64>]> {
    intervals.sort_unstable_by_key(|interval| (interval.start, interval.end));
    let mut end = 0;
    intervals.retain_mut(|interval| {
        let is_backwards = interval.end < interval.start;
        let is_known = interval.start < end && interval.end <= end;
        if is_backwards || is_known {
            return false;
        }
        interval.start = interval.start.max(end);
        end = interval.end;
        true
    });
    intervals.into()
}

fn length(interval: &Range<u64>) -> u64 {
    interval.end.saturating_sub(interval.start)
}
