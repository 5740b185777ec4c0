//! When calls were counted on demand, and of which functions.

use crate::text::Text;

/// The largest number of selections: the bits of a site.
pub(super) const MOST_SELECTIONS: usize = u32::BITS as usize;
/// The largest number of intervals. Further ones lengthen the last one.
const MOST_INTERVALS: usize = 1024;
/// The longest list of patterns.
pub(super) const LONGEST_LIST: usize = 1024;

/// A time in which the calls of a selection were counted, in nanoseconds since the start of the profile.
#[derive(Clone, Copy)]
pub(super) struct Interval {
    pub(super) selection: usize,
    pub(super) begin: u64,
    pub(super) length: u64,
}

/// A list of patterns, by which functions are selected.
pub(super) struct Selection {
    pub(super) list: Text<LONGEST_LIST>,
}

/// The selections, and when their calls were counted. Memory of zeros has none.
pub(super) struct Intervals {
    selections: [Selection; MOST_SELECTIONS],
    number_of_selections: usize,
    intervals: [Interval; MOST_INTERVALS],
    number: usize,
    /// The selection whose calls are being counted and 1; 0 if there is none.
    current: usize,
    /// When the current interval began.
    since: u64,
}

impl Intervals {
    /// The selection whose calls are being counted.
    pub(super) fn current(&self) -> Option<usize> {
        self.current.checked_sub(1)
    }

    /// The list of patterns of a selection.
    pub(super) fn list(&self, selection: usize) -> &[u8] {
        self.selections.get(selection).map_or(&[], |selection| selection.list.as_bytes())
    }

    /// The selection with a list of patterns, which may be new; `None` if there are too many.
    pub(super) fn selection(&mut self, list: &[u8]) -> Option<usize> {
        let known = self.selections.iter().take(self.number_of_selections);
        if let Some(found) = known.clone().position(|selection| selection.list.as_bytes() == list) {
            return Some(found);
        }
        let number = self.number_of_selections;
        let place = self.selections.get_mut(number)?;
        place.list.clear();
        place.list.push(list);
        self.number_of_selections += 1;
        Some(number)
    }

    pub(super) fn number_of_selections(&self) -> usize {
        self.number_of_selections
    }

    /// Begins an interval.
    pub(super) fn begin(&mut self, selection: usize, now: u64) {
        (self.current, self.since) = (selection + 1, now);
    }

    /// Ends the current interval.
    pub(super) fn end(&mut self, now: u64) {
        if let Some(interval) = self.running(now) {
            match self.intervals.get_mut(self.number) {
                Some(place) => {
                    *place = interval;
                    self.number += 1;
                }
                // The time of a selection stays exact.
                None => self.lengthen(interval),
            }
        }
        self.current = 0;
    }

    /// Lengthens the last interval of the same selection.
    fn lengthen(&mut self, interval: Interval) {
        let is_same = |other: &&mut Interval| other.selection == interval.selection;
        if let Some(last) = self.intervals.iter_mut().rev().find(is_same) {
            last.length = last.length.saturating_add(interval.length);
        }
    }

    /// The current interval up to now.
    fn running(&self, now: u64) -> Option<Interval> {
        let selection = self.current()?;
        Some(Interval { selection, begin: self.since, length: now.saturating_sub(self.since) })
    }

    /// Passes the intervals of a selection to `each`; one that has not ended goes up to now.
    pub(super) fn each(&self, selection: usize, now: u64, mut each: impl FnMut(Interval)) {
        let ended = self.intervals.iter().take(self.number).copied();
        ended.chain(self.running(now)).filter(|interval| interval.selection == selection).for_each(&mut each);
    }

    /// Forgets the intervals of the parent in the child of a fork, whose profile begins now, and goes on with the
    /// current selection.
    pub(super) fn restart(&mut self) {
        (self.number, self.since) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals() -> Box<Intervals> {
        // SAFETY: zeros are valid.
        unsafe { Box::new_zeroed().assume_init() }
    }

    fn of(intervals: &Intervals, selection: usize, now: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        intervals.each(selection, now, |interval| all.push((interval.begin, interval.length)));
        all
    }

    #[test]
    fn each_selection_has_its_intervals() {
        let mut intervals = intervals();
        let (all, some) = (intervals.selection(b"").unwrap(), intervals.selection(b"f*").unwrap());
        assert_eq!((intervals.selection(b""), intervals.selection(b"f*")), (Some(all), Some(some)));
        intervals.begin(all, 10);
        intervals.end(15);
        intervals.begin(some, 20);
        intervals.end(22);
        intervals.begin(all, 30);
        assert_eq!((of(&intervals, all, 31), of(&intervals, some, 31)), (vec![(10, 5), (30, 1)], vec![(20, 2)]));
        assert_eq!((intervals.current(), intervals.list(some)), (Some(all), &b"f*"[..]));
        intervals.restart();
        assert_eq!((of(&intervals, all, 3), of(&intervals, some, 3)), (vec![(0, 3)], vec![]));
    }

    #[test]
    fn the_time_of_a_selection_stays_exact_when_there_are_too_many_intervals() {
        let mut intervals = intervals();
        let selections = [b"a", b"b"].map(|list| intervals.selection(list).unwrap());
        for number in 0..3000 {
            intervals.begin(selections[number as usize % 2], number * 10);
            intervals.end(number * 10 + 3);
        }
        for selection in selections {
            let all = of(&intervals, selection, 0);
            assert_eq!((all.len(), all.iter().map(|(_, length)| length).sum::<u64>()), (512, 4500));
        }
    }

    #[test]
    fn there_is_a_limit_of_selections() {
        let mut intervals = intervals();
        for number in 0..MOST_SELECTIONS {
            assert_eq!(intervals.selection(number.to_string().as_bytes()), Some(number));
        }
        assert_eq!((intervals.selection(b"one more"), intervals.selection(b"31")), (None, Some(31)));
    }
}
