//! What changed between two analyses, of two runs or of two builds: a row for each function that has time or calls on
//! either side, and the flame graphs of both sides as one tree.

mod change;
mod findings;
mod join;
mod judge;
mod model;
mod row_runs;
mod run;
mod runs;
mod side;

pub use change::{Change, ComparedCalls};
pub use judge::{Evidence, Judgement};
pub use model::{ArcChange, Cause, ChangedFrame, Difference, DifferenceFlame, DifferenceRow, Finding, Presence, Runs};
pub use row_runs::{CallsJudged, RowRuns};
pub use run::Run;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::analysis::Analysis;
use super::flame::FlameSubject;
use super::ordered::Ordered;
use crate::error::Error;
use crate::question::options::Options;
use change::Time;
use join::join;
use model::RowSubject;
use runs::Judge;
use side::{Elsewhere, FrameKey, Numbers, Side, Subjects};

/// Compares two analyses, each of one run. The options of both must be [`Options::compared`](crate::Options::compared);
/// those of `new` choose the rows. Inclusive times should be measured on both sides or estimated on both
/// ([`Options::propagate`](crate::Options::propagate)).
///
/// # Errors
///
/// If a side has no samples, the sides have samples of different units, or the base shall be scaled and a side has no
/// time.
pub fn difference<'a, 'data>(
    base: &'a Analysis<'data>,
    new: &'a Analysis<'data>,
) -> Result<Difference<'a, 'data>, Error> {
    let [of_base, of_new] = [base, new].map(|side| [Run::new(side, side)]);
    difference_of_runs((base, &of_base), (new, &of_new))
}

/// Compares two analyses as [`difference`] does, each of which has the sum of several runs. Times and calls are means a
/// run.
///
/// # Errors
///
/// As those of [`difference`].
pub fn difference_of_runs<'a, 'data>(
    (base, of_base): (&'a Analysis<'data>, &[Run]),
    (new, of_new): (&'a Analysis<'data>, &[Run]),
) -> Result<Difference<'a, 'data>, Error> {
    let runs = [of_base, of_new];
    let mut sides = [base, new].map(Side::new);
    for (side, runs) in sides.iter_mut().zip(runs) {
        side.factor = 1.0 / runs.len().max(1) as f64;
    }
    check(&sides)?;
    let options = new.options;
    let is_normalized = options.comparison.as_ref().is_some_and(|comparison| comparison.normalizes);
    let [base_total, new_total] = sides.map(|side| side.total());
    if let Some(side) = sides.iter().find(|side| is_normalized && side.total() <= 0.0) {
        return Err(no_times(side));
    }
    let factor = Some(new_total / base_total).filter(|_| is_normalized);
    sides[0].factor *= factor.unwrap_or(1.0);
    let whole = factor.map(|_| new_total);
    sides.iter_mut().for_each(|side| side.whole = whole);
    let subjects = Subjects::new(join(base, new), [base, new]);
    let total = Change::without_error(sides[0].total(), new_total);
    let is_measured = sides.iter().all(|side| side.analysis.is_measured());
    let calls = match sides.map(|side| side.analysis.has_estimates()) {
        [false, false] => ComparedCalls::Counted,
        [true, true] => ComparedCalls::Estimated,
        _ => ComparedCalls::Different,
    };
    let judge = Judge::new(sides, runs);
    let (mut rows, flame) = (rows(&sides, &subjects, calls, options, &judge), OnceLock::new());
    let noise_errors = change::set_limit(rows.iter_mut().flat_map(|row| [&mut row.own, &mut row.inclusive]).collect());
    let arcs = judge.changed_arcs(runs, &subjects);
    let runs = judge.finish(&mut rows, noise_errors);
    let mut difference =
        Difference { sides, subjects, rows, left_out: 0, total, calls, factor, is_measured, noise_errors, runs, flame };
    difference.sort();
    difference.runs.rows.clone_from(&difference.rows);
    difference.limit(options);
    let changed = difference.runs.rows.iter().filter(|row| row.runs.own.is_certain).copied();
    difference.runs.findings = difference.findings(changed.collect::<Vec<_>>().into_iter(), &arcs);
    difference.runs.calls = arcs.into_iter().filter(|arc| arc.is_origin && arc.calls.is_exact).collect();
    Ok(difference)
}

fn no_times(side: &Side<'_, '_>) -> Error {
    Error::NoTimes { file: side.analysis.files.first().map_or_else(String::new, |info| info.file.to_string()) }
}

/// Checks whether both sides have times that can be compared.
fn check(sides: &[Side<'_, '_>; 2]) -> Result<(), Error> {
    for side in sides {
        if side.analysis.clock.rate <= 0.0 {
            return Err(no_times(side));
        }
    }
    let [base, new] = sides.map(|side| side.analysis.clock.dimension);
    let name = |dimension: gmon::Dimension| String::from_utf8_lossy(dimension.as_bytes()).into_owned();
    if base == new { Ok(()) } else { Err(Error::UnitsDiffer { base: name(base), new: name(new) }) }
}

fn rows(
    sides: &[Side<'_, '_>; 2],
    subjects: &Subjects,
    compared: ComparedCalls,
    options: &Options,
    judge: &Judge<'_, '_, '_>,
) -> Vec<DifferenceRow> {
    let functions = subjects.joined.iter().enumerate().map(|(at, joined)| {
        let numbers = [0, 1].map(|side: usize| sides[side].numbers(&joined[side]));
        let presence = match joined {
            [base, _] if base.is_empty() => Presence::Added,
            [_, new] if new.is_empty() => Presence::Removed,
            _ => Presence::Both,
        };
        (RowSubject::Functions(at), presence, numbers)
    });
    let elsewhere = Elsewhere::ALL.into_iter().map(|elsewhere| {
        (RowSubject::Elsewhere(elsewhere), Presence::Both, sides.map(|side| side.elsewhere(elsewhere)))
    });
    let row = |(subject, presence, [base, new]): (RowSubject, Presence, [Numbers; 2])| {
        let is_function = matches!(subject, RowSubject::Functions(_));
        let is_shown = base.is_used || new.is_used || (options.unused && is_function);
        let row = DifferenceRow {
            subject,
            presence,
            own: Time::change(base.own, new.own, sides[1].whole),
            inclusive: Time::change(base.inclusive, new.inclusive, sides[1].whole),
            calls: base.calls.change(new.calls, compared),
            runs: RowRuns::default(),
        };
        is_shown.then(|| DifferenceRow {
            runs: match subject {
                RowSubject::Functions(at) => judge.functions(&subjects.joined[at], [&base, &new], &row),
                RowSubject::Elsewhere(elsewhere) => judge.elsewhere(elsewhere, &new, &row),
            },
            ..row
        })
    };
    functions.chain(elsewhere).filter_map(row).collect()
}

impl Difference<'_, '_> {
    /// Sorts the rows.
    fn sort(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        let size = |change: Change| Reverse(Ordered(change.absolute().abs()));
        rows.sort_by_cached_key(|row| {
            let name = self.row_function(row).map(|(side, id)| &side.functions[id].name);
            (size(row.own), size(row.inclusive), size(row.calls), name)
        });
        self.rows = rows;
    }

    /// Leaves out the rows that the options leave out.
    fn limit(&mut self, options: &Options) {
        let mut rows = std::mem::take(&mut self.rows);
        let (all, limit) = (rows.len(), options.row_limit());
        if let Some(percent) = limit.min_percent {
            let least = percent / 100.0 * self.total.old.max(self.total.new);
            rows.retain(|row| row.own.absolute().abs() >= least);
        }
        rows.truncate(limit.top.unwrap_or(usize::MAX));
        (self.left_out, self.rows) = (all - rows.len(), rows);
    }
}

/// A frame while both sides are added.
struct Merged {
    parent: Option<usize>,
    subject: (usize, FlameSubject),
    inclusive: [f64; 2],
    own: [f64; 2],
}

impl Difference<'_, '_> {
    /// Returns the flame graphs of both sides as one tree. They are measured if [`Difference::is_measured`]. The first
    /// call makes the tree.
    pub fn flame(&self) -> &DifferenceFlame {
        self.flame.get_or_init(|| {
            let mut frames = ordered(&self.changed(self.merged()));
            let noise_errors = change::set_limit(frames.iter_mut().map(|frame| &mut frame.inclusive).collect());
            DifferenceFlame { frames, noise_errors }
        })
    }

    /// Returns the name of a frame.
    #[must_use]
    pub fn frame_name(&self, frame: &ChangedFrame) -> Cow<'_, [u8]> {
        let (side, subject) = frame.subject;
        match subject {
            FlameSubject::Function(id) => self.joined_name(self.subjects.number(side, id)),
            _ => {
                let analysis = self.sides[side].analysis;
                analysis.flame_name(analysis.flame(), subject)
            }
        }
    }

    /// Adds the frames of both sides: each behind its caller. A function that only one side has is a frame of its self
    /// time, and what it called stands at its caller: so functions are compared also if a build inlines one of their
    /// callers.
    fn merged(&self) -> Vec<Merged> {
        let mut merged: Vec<Merged> = Vec::new();
        let mut known: HashMap<(Option<usize>, FrameKey), usize> = HashMap::new();
        for (number, side) in self.sides.iter().enumerate() {
            let flame = side.analysis.flame();
            // For each frame of the side, the frame that its callees stand at.
            let mut places: Vec<usize> = Vec::with_capacity(flame.frames.len());
            for frame in &flame.frames {
                let parent = frame.parent.map(|parent| places[parent]);
                let is_alone = self.is_missing(1 - number, (number, frame.subject));
                if let Some(parent) = parent.filter(|_| is_alone) {
                    places.push(parent);
                    if frame.own <= 0.0 {
                        continue;
                    }
                }
                let key = self.subjects.key(number, flame, frame.subject);
                let place = *known.entry((parent, key)).or_insert(merged.len());
                if place == merged.len() {
                    let subject = (number, frame.subject);
                    merged.push(Merged { parent, subject, inclusive: [0.0; 2], own: [0.0; 2] });
                }
                if !is_alone {
                    places.push(place);
                }
                merged[place].inclusive[number] += if is_alone { frame.own } else { frame.inclusive };
                merged[place].own[number] += frame.own;
            }
        }
        merged
    }

    /// Whether a side does not have the function of a frame, so that its time there is 0 for certain.
    fn is_missing(&self, side: usize, (of, subject): (usize, FlameSubject)) -> bool {
        match subject {
            FlameSubject::Function(id) => self.subjects.joined[self.subjects.number(of, id)][side].is_empty(),
            _ => false,
        }
    }

    fn changed(&self, merged: Vec<Merged>) -> Vec<ChangedFrame> {
        let change = |frame: Merged| {
            let [base, new] = [0, 1].map(|side: usize| {
                let samples = frame.inclusive[side];
                // Each part of an estimate is a share of samples, so the estimate's error is at most the error of the
                // same number of samples.
                let time = self.sides[side].exactly(samples, samples.abs().sqrt());
                if self.is_missing(side, frame.subject) { Time::NONE } else { time }
            });
            let [old_own, new_own] = [0, 1].map(|side: usize| self.sides[side].time(frame.own[side]));
            ChangedFrame {
                parent: frame.parent,
                inclusive: Time::change(base, new, self.sides[1].whole),
                own: Change::without_error(old_own, new_own),
                subject: frame.subject,
            }
        };
        merged.into_iter().map(change).collect()
    }
}

/// Returns the frames: each behind its caller, the longest callee first and "(cut)" last.
fn ordered(frames: &[ChangedFrame]) -> Vec<ChangedFrame> {
    let mut siblings: Vec<usize> = (1..frames.len()).collect();
    siblings.sort_by_cached_key(|at| {
        let frame = &frames[*at];
        (frame.parent, frame.subject.1 == FlameSubject::Cut, Reverse(Ordered(frame.width())), *at)
    });
    let start_of = |parent: usize| siblings.partition_point(|at| frames[*at].parent < Some(parent));
    let mut ordered: Vec<ChangedFrame> = Vec::with_capacity(frames.len());
    let mut left: Vec<(usize, Option<usize>)> = if frames.is_empty() { Vec::new() } else { vec![(0, None)] };
    while let Some((at, parent)) = left.pop() {
        let (start, end) = (start_of(at), start_of(at + 1));
        left.extend(siblings[start..end].iter().rev().map(|child| (*child, Some(ordered.len()))));
        ordered.push(ChangedFrame { parent, ..frames[at] });
    }
    ordered
}
