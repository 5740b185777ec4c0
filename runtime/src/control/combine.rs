//! Sorts rows and adds up rows with the same key.

use core::cmp::Ordering;
use core::{mem, slice};

use gmon::layout::RawArc;

use crate::memory::{Row, ThreadRow};
use crate::objects::Tally;

/// A row of a sum.
///
/// # Safety
///
/// The type must consist of three words: the second part of the key, the first part of the key, and the count. A fourth
/// word may be before these words; rows are then sorted by this word first.
pub(crate) unsafe trait Summand: Copy + 'static {
    fn count(&self) -> u64;
}

// SAFETY: the fields are in this order.
unsafe impl Summand for Row {
    fn count(&self) -> u64 {
        self.count
    }
}

// SAFETY: the thread is before a row.
unsafe impl Summand for ThreadRow {
    fn count(&self) -> u64 {
        self.calls.count
    }
}

/// An entry that is combined as a row. One copy of the code serves all entries with the same rows.
///
/// # Safety
///
/// The type must have the layout of its rows.
pub(super) unsafe trait Entry: Copy + 'static {
    type Row: Summand;

    /// The entry as a row.
    fn row(self) -> Self::Row {
        // SAFETY: both types have the same layout.
        unsafe { *(&raw const self).cast() }
    }
}

// SAFETY: the fields are the caller, the called function and the count.
unsafe impl Entry for RawArc {
    type Row = Row;
}

// SAFETY: the fields are the caller, in a word that is 0 for none, the place, and the count.
unsafe impl Entry for Tally {
    type Row = Row;
}

// SAFETY: the type is its row.
unsafe impl Entry for ThreadRow {
    type Row = ThreadRow;
}

/// Sorts rows, arcs by selfpc and frompc, and adds up rows with the same key. The result is the number of rows that
/// remain.
///
/// The rows are sorted because the order of the tables depends on the load address: the same run must give the same
/// file.
pub(super) fn combine<R: Summand>(rows: &mut [R]) -> usize {
    Words::of(rows).combine()
}

/// The key of a row. The first part is 0 in rows of three words.
type Key = [usize; 3];

/// Rows as words. One copy of the code serves all types of rows.
struct Words<'a> {
    words: &'a mut [usize],
    /// The words of a row.
    width: usize,
    /// The number of rows.
    length: usize,
}

impl<'a> Words<'a> {
    fn of<R: Summand>(rows: &'a mut [R]) -> Words<'a> {
        let (width, length) = (size_of::<R>() / size_of::<usize>(), rows.len());
        // SAFETY: rows consist of words.
        let words = unsafe { slice::from_raw_parts_mut(rows.as_mut_ptr().cast(), width * length) };
        Words { words, width, length }
    }

    fn row(&self, index: usize) -> Option<&[usize]> {
        let start = index * self.width;
        self.words.get(start..start + self.width)
    }

    #[inline(never)]
    fn key(&self, index: usize) -> Key {
        match self.row(index) {
            Some([second, first, _]) => [0, *first, *second],
            Some([thread, second, first, _]) => [*thread, *first, *second],
            _ => [0; 3],
        }
    }

    /// The order of the key of a row and another key.
    #[inline(never)]
    fn order(&self, index: usize, key: &Key) -> Ordering {
        self.key(index).cmp(key)
    }

    /// Copies the row at `from` to `to`.
    fn copy(&mut self, from: usize, to: usize) {
        for word in 0..self.width {
            if let Some(value) = self.words.get(from * self.width + word).copied()
                && let Some(place) = self.words.get_mut(to * self.width + word)
            {
                *place = value;
            }
        }
    }

    #[inline(never)]
    fn swap(&mut self, row: usize, other: usize) {
        for word in 0..self.width {
            if let Ok([left, right]) = self.words.get_disjoint_mut([row * self.width + word, other * self.width + word])
            {
                mem::swap(left, right);
            }
        }
    }

    fn combine(&mut self) -> usize {
        self.sort();
        let mut kept = 0_usize;
        for index in 0..self.length {
            if kept == 0 || self.order(index, &self.key(kept - 1)).is_ne() {
                self.copy(index, kept);
                kept += 1;
                continue;
            }
            let count = self.row(index).and_then(|row| row.last().copied()).unwrap_or(0);
            if let Some(sum) = self.words.get_mut(kept * self.width - 1) {
                *sum = sum.saturating_add(count).min(isize::MAX as usize);
            }
        }
        kept
    }

    /// Sorts in place, in n log n steps at worst: quick sort, and heap sort for a part that quick sort splits badly too
    /// often. (The library's sorts contain code that can panic.)
    fn sort(&mut self) {
        self.quick_sort(2 * (usize::BITS - self.length.leading_zeros()));
    }

    fn quick_sort(&mut self, mut splits_left: u32) {
        let mut words = Words { words: &mut *self.words, ..*self };
        while words.length > 1 {
            if splits_left == 0 {
                words.heap_sort();
                return;
            }
            splits_left -= 1;
            let (low, high) = words.split();
            // The recursion is for the shorter part, which limits its depth.
            let (mut short, long) = if low.length < high.length { (low, high) } else { (high, low) };
            short.quick_sort(splits_left);
            words = long;
        }
    }

    /// Moves rows that are less than some pivot before all other rows; neither part is the whole.
    fn split(mut self) -> (Words<'a>, Words<'a>) {
        let last = self.length - 1;
        let pivot = self.median(0, self.length / 2, last);
        let (mut low, mut high) = (0, self.length);
        // Hoare's partition: rows before `low` are at most the pivot, rows from `high` on are at least the pivot.
        loop {
            while low < last && self.order(low, &pivot).is_lt() {
                low += 1;
            }
            high -= 1;
            while high > 0 && self.order(high, &pivot).is_gt() {
                high -= 1;
            }
            if low >= high {
                break;
            }
            self.swap(low, high);
            low += 1;
        }
        let length = low.clamp(1, last);
        let (left, right) = self.words.split_at_mut_checked(length * self.width).unwrap_or_default();
        let right = Words { words: right, width: self.width, length: self.length - length };
        (Words { words: left, width: self.width, length }, right)
    }

    /// The median of the keys of three rows.
    fn median(&self, mut first: usize, mut second: usize, third: usize) -> Key {
        if self.order(first, &self.key(second)).is_gt() {
            (first, second) = (second, first);
        }
        if self.order(second, &self.key(third)).is_gt() {
            second = if self.order(first, &self.key(third)).is_gt() { first } else { third };
        }
        self.key(second)
    }

    fn heap_sort(&mut self) {
        for root in (0..self.length / 2).rev() {
            self.sift_down(root, self.length);
        }
        for end in (1..self.length).rev() {
            self.swap(0, end);
            self.sift_down(0, end);
        }
    }

    /// Moves the row at `root` down until no row below it, before the row `end`, is greater.
    fn sift_down(&mut self, mut root: usize, end: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child + 1 < end && self.order(child, &self.key(child + 1)).is_lt() {
                child += 1;
            }
            if child >= end || self.order(child, &self.key(root)).is_le() {
                return;
            }
            self.swap(root, child);
            root = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Combines arcs as rows and converts the result to arcs.
    fn combined(arcs: &[RawArc]) -> Vec<RawArc> {
        let mut rows: Vec<Row> = arcs.iter().map(|arc| arc.row()).collect();
        let kept = combine(&mut rows);
        let arc = |row: &Row| RawArc { raw_frompc: row.second, raw_selfpc: row.first, raw_count: row.count as isize };
        rows[..kept].iter().map(arc).collect()
    }

    fn key(row: &Row) -> (usize, usize) {
        (row.first, row.second)
    }

    #[test]
    fn rows_of_threads_are_sorted_by_thread_first() {
        let row = |thread, first, second, count| ThreadRow { thread, calls: Row { second, first, count } };
        let mut rows = [row(2, 1, 1, 1), row(1, 2, 1, 2), row(1, 1, 2, 3), row(1, 2, 1, 4), row(1, 1, 1, 5)];
        assert_eq!(combine(&mut rows), 4);
        let found = rows.map(|row| (row.thread, row.calls.first, row.calls.second, row.calls.count));
        assert_eq!(found[..4], [(1, 1, 1, 5), (1, 1, 2, 3), (1, 2, 1, 6), (2, 1, 1, 1)]);
    }

    #[test]
    fn arcs_that_agree_become_one() {
        let arc = |from, this, count| RawArc { raw_frompc: from, raw_selfpc: this, raw_count: count };
        let arcs = [arc(1, 2, 3), arc(9, 1, 1), arc(1, 2, 4), arc(0, 2, 1), arc(9, 1, 2), arc(1, 2, isize::MAX)];
        assert_eq!(combined(&arcs), [arc(9, 1, 3), arc(0, 2, 1), arc(1, 2, isize::MAX)]);
    }

    #[test]
    fn tallies_are_sorted_by_place_and_samples_are_not_added_to_calls() {
        let [samples, calls] = [Tally::samples(5, 3), Tally::calls(0, 5, 4)];
        let mut rows = [calls, samples, Tally::calls(9, 4, 1), samples, calls].map(Entry::row);
        assert_eq!(combine(&mut rows), 3);
        let expected = [Tally::calls(9, 4, 1), Tally::samples(5, 6), Tally::calls(0, 5, 8)].map(Entry::row);
        for (row, expected) in rows.iter().zip(expected) {
            assert_eq!((key(row), row.count), (key(&expected), expected.count));
        }
    }

    #[test]
    fn any_number_of_arcs_is_sorted() {
        for length in 0..200_usize {
            let value = |index: usize| index.wrapping_mul(2_654_435_761) % 1000;
            let mut arcs: Vec<Row> =
                (0..length).map(|index| Row { second: value(index), first: value(index + 7) % 10, count: 1 }).collect();
            let mut expected: Vec<_> = arcs.iter().map(key).collect();
            expected.sort_unstable();
            let mut same = arcs.clone();
            Words::of(&mut same).heap_sort();
            Words::of(&mut arcs).sort();
            for sorted in [&arcs, &same] {
                assert_eq!(sorted.iter().map(key).collect::<Vec<_>>(), expected);
            }
            let kept = combine(&mut arcs);
            assert_eq!(arcs[..kept].iter().map(|arc| arc.count).sum::<u64>(), length as u64);
        }
    }

    #[test]
    fn no_order_makes_sorting_slow() {
        // Ascending, descending, all equal, up and down: each would take minutes if every split were bad.
        let orders: [fn(usize) -> usize; 4] = [|n| n, |n| 300_000 - n, |_| 7, |n| n.min(300_000 - n)];
        for order in orders {
            let mut arcs: Vec<Row> = (0..300_000).map(|n| Row { second: order(n), first: 1, count: 1 }).collect();
            Words::of(&mut arcs).sort();
            assert!(arcs.is_sorted_by_key(key));
        }
    }
}
