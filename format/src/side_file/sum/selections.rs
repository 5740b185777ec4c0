//! Adds up which calls were counted on demand, and for how long.
//!
//! The intervals of two runs have nothing in common but their lengths, and a sum must not depend on the order of its
//! files. So a sum has the time of each selection, and the time in which any calls were counted. The intervals of the
//! sum have these lengths. The file of a single run keeps its intervals.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::iter;
use core::ops::Range;

use crate::encode::side_file::Place;
use crate::side_file::content::SideFile;
use crate::side_file::selections::{Selection, covered, disjoint, in_order};

/// The pattern and the functions of a selection.
type Key = (Box<[u8]>, Box<[Place]>);

/// The selections of all files.
#[derive(Clone, Debug, Default)]
pub(super) struct Selections {
    /// The first file, as long as it is the only one.
    first: Option<Counted>,
    /// The times of all files, once there are several.
    times: Option<Times>,
}

/// What one file says.
#[derive(Clone, Debug)]
struct Counted {
    /// `None` if calls were counted during the whole run.
    selections: Option<Vec<Selection>>,
    elapsed: Option<u64>,
}

/// How long calls were counted in several files.
#[derive(Clone, Debug, Default)]
struct Times {
    /// Whether any file counts calls on demand.
    is_on_demand: bool,
    /// The time of each selection, without that of whole runs.
    selections: BTreeMap<Key, u64>,
    /// The time in which calls of any of these selections were counted.
    any: u64,
    /// The time of whole runs, if there are any.
    whole: Option<u64>,
}

/// The time in which a file counts calls of any selection, without whole runs.
pub(super) fn counted_time(file: &SideFile) -> u64 {
    covered(of_intervals(file.selections().unwrap_or_default()))
}

fn of_intervals(selections: &[Selection]) -> impl Iterator<Item = &Selection> {
    selections.iter().filter(|selection| !selection.is_of_whole_runs())
}

impl Selections {
    /// Adds the selections of a file. `place` translates their places to those of the sum. The sum of all
    /// [`counted_time`]s fits 64 bits.
    pub(super) fn add(&mut self, file: &SideFile, place: impl Fn(Place) -> Place) {
        let selections = file.selections().map(|selections| joined(selections.to_vec(), place));
        let counted = Counted { selections, elapsed: file.elapsed() };
        match (&mut self.times, self.first.take()) {
            (Some(times), _) => times.add(counted),
            (None, Some(first)) => {
                let mut times = Times::default();
                times.add(first);
                times.add(counted);
                self.times = Some(times);
            }
            (None, None) => self.first = Some(counted),
        }
    }

    /// The selections of the sum. `place` translates the places, and `elapsed` is the time that all profiles span.
    pub(super) fn finish(self, elapsed: Option<u64>, place: impl Fn(Place) -> Place) -> Option<Vec<Selection>> {
        match self.times {
            Some(times) => times.finish(elapsed.is_some(), place),
            None => self.first?.selections.map(|selections| joined(selections, place)),
        }
    }
}

impl Times {
    fn add(&mut self, file: Counted) {
        let Some(selections) = file.selections else {
            self.add_whole(file.elapsed.unwrap_or(0));
            return;
        };
        self.is_on_demand = true;
        self.any = self.any.saturating_add(covered(of_intervals(&selections)));
        for selection in selections {
            let time = selection.time();
            if selection.is_of_whole_runs() {
                self.add_whole(time);
            } else {
                let sum = self.selections.entry((selection.pattern, selection.functions)).or_insert(0);
                // Not more than `any`.
                *sum = sum.saturating_add(time);
            }
        }
    }

    fn add_whole(&mut self, time: u64) {
        self.whole = Some(self.whole.unwrap_or(0).saturating_add(time));
    }

    /// Intervals with these times. Those of all selections cover the time from 0 to `any`, and whole runs follow. If
    /// the time of any run is not known, that of whole runs is not known.
    fn finish(self, is_known: bool, place: impl Fn(Place) -> Place) -> Option<Vec<Selection>> {
        if !self.is_on_demand {
            return None;
        }
        let selections = self.selections.into_iter();
        let selections = selections.map(|((pattern, functions), time)| {
            // Only the length of this interval remains.
            let intervals = iter::once(0..time).collect();
            Selection { pattern, functions, intervals }
        });
        let mut selections = joined(selections.collect(), place);
        let mut at = 0;
        for selection in &mut selections {
            (selection.intervals, at) = turn(at, selection.time(), self.any);
        }
        if let Some(whole) = self.whole {
            let interval = self.any..self.any.saturating_add(whole);
            let intervals = Vec::from_iter((is_known && !interval.is_empty()).then_some(interval));
            // Neither a pattern nor functions: before all others.
            selections.insert(0, Selection { intervals: intervals.into(), ..Selection::default() });
        }
        Some(selections)
    }
}

/// Intervals of a length, from a time on, in a circle of a length that is not less. Also returns the time behind them.
fn turn(at: u64, length: u64, circle: u64) -> (Box<[Range<u64>]>, u64) {
    let end = at.saturating_add(length);
    let (intervals, next) = match length.checked_sub(circle.saturating_sub(at)) {
        None => ([0..0, at..end], end),
        Some(rest) if length == circle => ([0..0, 0..circle], rest),
        Some(rest) => ([0..rest, at..circle], rest),
    };
    (intervals.into_iter().filter(|interval| !interval.is_empty()).collect(), next)
}

/// Selections with other places, in order. Equal ones are joined.
fn joined(selections: Vec<Selection>, place: impl Fn(Place) -> Place) -> Vec<Selection> {
    let selections = selections.into_iter().map(|Selection { pattern, functions, intervals }| {
        let functions = functions.iter().map(|function| place(*function));
        ((pattern, in_order(functions.collect())), intervals.into_vec())
    });
    let mut selections: Vec<(Key, Vec<Range<u64>>)> = selections.collect();
    selections.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    selections.dedup_by(|(later, more), (earlier, intervals)| {
        let is_same = later == earlier;
        if is_same {
            intervals.append(more);
        }
        is_same
    });
    let selections = selections.into_iter().map(|((pattern, functions), intervals)| {
        let intervals = disjoint(intervals);
        Selection { pattern, functions, intervals }
    });
    selections.collect()
}
