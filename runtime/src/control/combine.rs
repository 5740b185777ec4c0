//! Sorts rows and adds up rows with the same key.

use core::mem;

use gmon::layout::RawArc;

use crate::objects::Tally;
use crate::per_process::{Row, ThreadRow};

/// A row of a sum.
pub(crate) trait Summand: Copy + 'static {
    /// What is counted.
    type Key: Copy + Ord;

    fn key(&self) -> Self::Key;
    fn count(&self) -> u64;
    fn set_count(&mut self, count: u64);
}

impl Summand for Row {
    type Key = (usize, usize);

    fn key(&self) -> (usize, usize) {
        (self.first, self.second)
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn set_count(&mut self, count: u64) {
        self.count = count;
    }
}

impl Summand for ThreadRow {
    type Key = (usize, usize, usize);

    fn key(&self) -> (usize, usize, usize) {
        (self.thread, self.calls.first, self.calls.second)
    }

    fn count(&self) -> u64 {
        self.calls.count
    }

    fn set_count(&mut self, count: u64) {
        self.calls.count = count;
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
    sort(rows);
    let mut kept = 0_usize;
    for index in 0..rows.len() {
        let Some(row) = rows.get(index).copied() else { break };
        match kept.checked_sub(1).and_then(|last| rows.get_mut(last)) {
            Some(last) if last.key() == row.key() => {
                last.set_count(last.count().saturating_add(row.count()).min(isize::MAX as u64));
            }
            _ => {
                if let Some(place) = rows.get_mut(kept) {
                    *place = row;
                }
                kept += 1;
            }
        }
    }
    kept
}

/// Sorts in place, in n log n steps at worst: quick sort, and heap sort for a part that quick sort splits badly too
/// often. (The library's sorts contain code that can panic.)
fn sort<R: Summand>(rows: &mut [R]) {
    quick_sort(rows, 2 * (usize::BITS - rows.len().leading_zeros()));
}

fn quick_sort<R: Summand>(mut rows: &mut [R], mut splits_left: u32) {
    while rows.len() > 1 {
        if splits_left == 0 {
            heap_sort(rows);
            return;
        }
        splits_left -= 1;
        let (low, high) = split(rows);
        // The recursion is for the shorter part, which limits its depth.
        let (short, long) = if low.len() < high.len() { (low, high) } else { (high, low) };
        quick_sort(short, splits_left);
        rows = long;
    }
}

/// Moves rows that are less than some pivot before all other rows; neither part is the whole.
fn split<R: Summand>(rows: &mut [R]) -> (&mut [R], &mut [R]) {
    let at = |index: usize| rows.get(index).map(R::key);
    let mut ends = [at(0), at(rows.len() / 2), at(rows.len().saturating_sub(1))];
    // The pivot is the median of three rows.
    if ends[0] > ends[1] {
        ends.swap(0, 1);
    }
    if ends[1] > ends[2] {
        ends.swap(1, 2);
    }
    let pivot = ends[0].max(ends[1]);
    let (mut low, mut high) = (0, rows.len());
    // Hoare's partition: rows before `low` are at most the pivot, rows from `high` on are at least the pivot.
    loop {
        while rows.get(low).map(R::key) < pivot {
            low += 1;
        }
        high = high.saturating_sub(1);
        while rows.get(high).map(R::key) > pivot {
            high = high.saturating_sub(1);
        }
        if low >= high {
            break;
        }
        if let Ok([left, right]) = rows.get_disjoint_mut([low, high]) {
            mem::swap(left, right);
        }
        low += 1;
    }
    let length = rows.len();
    rows.split_at_mut_checked(low.clamp(1, length - 1)).unwrap_or_default()
}

fn heap_sort<R: Summand>(rows: &mut [R]) {
    for root in (0..rows.len() / 2).rev() {
        sift_down(rows, root);
    }
    for end in (1..rows.len()).rev() {
        let Some((last, heap)) = rows.get_mut(..=end).and_then(<[R]>::split_last_mut) else { return };
        if let Some(greatest) = heap.first_mut() {
            mem::swap(greatest, last);
        }
        sift_down(heap, 0);
    }
}

/// Moves the row at `root` down until no row below it is greater.
fn sift_down<R: Summand>(heap: &mut [R], mut root: usize) {
    loop {
        let greatest = [root, 2 * root + 1, 2 * root + 2]
            .into_iter()
            .filter(|index| *index < heap.len())
            .max_by_key(|index| heap.get(*index).map(R::key));
        match greatest {
            Some(child) if heap.get(child).map(R::key) > heap.get(root).map(R::key) => {
                if let Ok([above, below]) = heap.get_disjoint_mut([root, child]) {
                    mem::swap(above, below);
                }
                root = child;
            }
            _ => return,
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
            assert_eq!((row.key(), row.count), (expected.key(), expected.count));
        }
    }

    #[test]
    fn any_number_of_arcs_is_sorted() {
        for length in 0..200_usize {
            let value = |index: usize| index.wrapping_mul(2_654_435_761) % 1000;
            let mut arcs: Vec<Row> =
                (0..length).map(|index| Row { second: value(index), first: value(index + 7) % 10, count: 1 }).collect();
            let mut expected: Vec<_> = arcs.iter().map(Row::key).collect();
            expected.sort_unstable();
            let mut same = arcs.clone();
            heap_sort(&mut same);
            sort(&mut arcs);
            for sorted in [&arcs, &same] {
                assert_eq!(sorted.iter().map(Row::key).collect::<Vec<_>>(), expected);
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
            sort(&mut arcs);
            assert!(arcs.is_sorted_by_key(Row::key));
        }
    }
}
