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

/// The functions that a list of patterns selects, or the functions of another selection without these.
struct Selection {
    list: Text<LONGEST_LIST>,
    /// The number of the other, earlier selection and 1; 0 for none.
    less_than: usize,
}

/// Why there is no new selection.
pub(super) enum NoRoomForList {
    TooLong,
    TooMany,
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

    /// The selection from which the functions of a list are left out.
    pub(super) fn less_than(&self, selection: usize) -> Option<usize> {
        self.selections.get(selection)?.less_than.checked_sub(1)
    }

    /// The selection with a list of patterns, which may be new. With `less_than`, the functions of the list are left
    /// out of that selection.
    pub(super) fn selection(&mut self, list: &[u8], less_than: Option<usize>) -> Result<usize, NoRoomForList> {
        let less_than = less_than.map_or(0, |selection| selection + 1);
        let is_same = |selection: &Selection| (selection.list.as_bytes(), selection.less_than) == (list, less_than);
        if let Some(found) = self.selections.iter().take(self.number_of_selections).position(is_same) {
            return Ok(found);
        }
        let number = self.number_of_selections;
        let place = self.selections.get_mut(number).ok_or(NoRoomForList::TooMany)?;
        place.list.clear();
        place.list.push(list);
        place.less_than = less_than;
        if !place.list.is_whole() {
            return Err(NoRoomForList::TooLong);
        }
        self.number_of_selections += 1;
        Ok(number)
    }

    /// Whether a selection is the last one, and its calls were never counted.
    pub(super) fn is_new(&self, selection: usize) -> bool {
        let mut is_counted = self.current() == Some(selection);
        self.each(selection, 0, |_| is_counted = true);
        !is_counted && selection + 1 == self.number_of_selections
    }

    /// Forgets the last selection.
    pub(super) fn forget(&mut self, selection: usize) {
        self.number_of_selections = selection;
    }

    /// Appends the name of a selection: its list, or the name of another selection and the list that is left out.
    pub(super) fn push_name<const N: usize>(&self, selection: usize, name: &mut Text<N>) {
        let less_than = self.less_than(selection);
        if let Some(from) = less_than {
            // An earlier selection.
            self.push_name(from, name);
            name.push(if name.as_bytes().is_empty() { b"* less " } else { b" less " });
        }
        name.push(self.list(selection));
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

    fn of_list(intervals: &mut Intervals, list: &[u8]) -> usize {
        intervals.selection(list, None).unwrap_or_else(|_| panic!())
    }

    fn of(intervals: &Intervals, selection: usize, now: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        intervals.each(selection, now, |interval| all.push((interval.begin, interval.length)));
        all
    }

    #[test]
    fn each_selection_has_its_intervals() {
        let mut intervals = intervals();
        let (all, some) = (of_list(&mut intervals, b""), of_list(&mut intervals, b"f*"));
        assert_eq!((of_list(&mut intervals, b""), of_list(&mut intervals, b"f*")), (all, some));
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
        let selections = [b"a", b"b"].map(|list| of_list(&mut intervals, list));
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
            assert_eq!(of_list(&mut intervals, number.to_string().as_bytes()), number);
        }
        assert!(matches!(intervals.selection(b"one more", None), Err(NoRoomForList::TooMany)));
        assert_eq!(of_list(&mut intervals, b"31"), 31);
    }

    #[test]
    fn a_selection_may_be_another_one_without_some_functions() {
        let mut intervals = intervals();
        let all = of_list(&mut intervals, b"");
        let less = intervals.selection(b"f*", Some(all)).unwrap_or_else(|_| panic!());
        let least = intervals.selection(b"g", Some(less)).unwrap_or_else(|_| panic!());
        assert_eq!([all, less, least].map(|selection| intervals.less_than(selection)), [None, Some(all), Some(less)]);
        let mut name = Text::<64>::new();
        intervals.push_name(least, &mut name);
        assert_eq!(name.as_bytes(), b"* less f* less g");
        assert!(intervals.is_new(least) && !intervals.is_new(less));
        intervals.forget(least);
        assert_ne!(of_list(&mut intervals, b"f*"), less);
        let long = [b'x'; LONGEST_LIST + 1];
        assert!(matches!(intervals.selection(&long, None), Err(NoRoomForList::TooLong)));
    }
}
