//! The flame graphs of both sides as one tree.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use super::change::{Change, Time};
use super::model::{ChangedFrame, Difference, DifferenceFlame};
use super::noise;
use super::subjects::FrameKey;
use crate::model::flame::FlameSubject;
use crate::model::ordered::Ordered;

/// A frame while both sides are added.
struct Merged {
    parent: Option<usize>,
    subject: (usize, FlameSubject),
    inclusive: [f64; 2],
    own: [f64; 2],
}

impl Difference<'_, '_> {
    /// Returns the flame graphs of both sides as one tree. They are measured if [`Difference::is_measured`]. The first call
    /// makes the tree.
    pub fn flame(&self) -> &DifferenceFlame {
        self.flame.get_or_init(|| {
            let mut frames = ordered(&self.changed(self.merged()));
            let noise_errors = noise::set_limit(frames.iter_mut().map(|frame| &mut frame.inclusive).collect());
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

    /// Adds the frames of both sides: each behind its caller. A function that only one side has is a frame of its self time, and
    /// what it called stands at its caller: so functions are compared also if a build inlines one of their callers.
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
                // Each part of an estimate is a share of samples, so the estimate's error is at most the error of the same
                // number of samples.
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
