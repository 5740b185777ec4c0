//! All frames of a tree, before short ones are combined.

use std::cmp::Reverse;

use super::frames::{Certainty, Flame, FlameFrame, FlameOrigin, FlameSubject};
use crate::model::ordered::Ordered;

/// Frames shorter than this part of the time are combined.
pub(super) const LEAST_PART: f64 = 1e-4;

/// The most frames of a flame graph that are not combined. A chain of calls may be as long as the input, and each frame is
/// drawn.
pub(in crate::model) const MOST_FRAMES: usize = 20_000;

/// Frames, each behind its parent. The first is the whole program.
#[derive(Debug)]
pub(super) struct Raw {
    frames: Vec<FlameFrame>,
}

impl Raw {
    pub(super) fn new() -> Raw {
        let mut raw = Raw { frames: Vec::new() };
        raw.push(None, FlameSubject::All, Certainty::Certain);
        raw
    }

    /// Adds a frame without time, and returns its index.
    pub(super) fn add(&mut self, parent: usize, subject: FlameSubject, certainty: Certainty) -> usize {
        self.push(Some(parent), subject, certainty)
    }

    fn push(&mut self, parent: Option<usize>, subject: FlameSubject, certainty: Certainty) -> usize {
        let frame = FlameFrame { parent, subject, inclusive: 0.0, own: 0.0, error: 0.0, certainty, bounds: None };
        self.frames.push(frame);
        self.frames.len() - 1
    }

    /// Adds time to a frame. A counter of a hostile profile may be negative, but a frame cannot.
    pub(super) fn count(&mut self, frame: usize, samples: f64) {
        self.frames[frame].own += samples.max(0.0);
    }

    pub(super) fn bound(&mut self, frame: usize, bounds: Option<(f64, f64)>) {
        self.frames[frame].bounds = bounds;
    }

    pub(super) fn frame(&self, frame: usize) -> &FlameFrame {
        &self.frames[frame]
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns the flame graph. `error` is the standard error of a number of samples. Frames with less than a part of all time,
    /// and those beyond a number of frames, become frames called "(cut)", so that no time is lost.
    pub(super) fn finish(self, origin: FlameOrigin, error: impl Fn(f64) -> f64) -> Flame {
        self.finish_with(origin, MOST_FRAMES, error)
    }

    /// Does the same with another number of frames.
    pub(super) fn finish_with(self, origin: FlameOrigin, most: usize, error: impl Fn(f64) -> f64) -> Flame {
        let mut frames = self.shortened(LEAST_PART, most);
        for frame in &mut frames {
            frame.error = error(frame.inclusive);
        }
        Flame { origin, frames, inlined: Vec::new() }
    }

    fn shortened(mut self, least_part: f64, most: usize) -> Vec<FlameFrame> {
        self.add_up();
        let kept = self.kept(least_part, most);
        let mut cuts = vec![0.0; self.frames.len()];
        for (at, frame) in self.frames.iter().enumerate() {
            if let (false, Some(parent)) = (kept[at], frame.parent.filter(|parent| kept[*parent])) {
                cuts[parent] += frame.inclusive;
            }
        }
        for (at, samples) in cuts.into_iter().enumerate().filter(|(_, samples)| *samples > 0.0) {
            let cut = self.add(at, FlameSubject::Cut, self.frames[at].certainty);
            (self.frames[cut].own, self.frames[cut].inclusive) = (samples, samples);
        }
        let is_kept = |at: usize| kept.get(at).copied().unwrap_or(true);
        self.ordered(is_kept)
    }

    fn add_up(&mut self) {
        for frame in &mut self.frames {
            frame.inclusive = frame.own;
        }
        for at in (1..self.frames.len()).rev() {
            if let Some(parent) = self.frames[at].parent {
                self.frames[parent].inclusive += self.frames[at].inclusive;
            }
        }
    }

    /// Which frames stay. The caller of a frame that stays has no less time and comes first, so it stays as well.
    fn kept(&self, least_part: f64, most: usize) -> Vec<bool> {
        let least = self.frames[0].inclusive * least_part;
        let is_long = |frame: &FlameFrame| frame.inclusive > 0.0 && frame.inclusive >= least;
        let mut order: Vec<usize> = (1..self.frames.len()).filter(|at| is_long(&self.frames[*at])).collect();
        order.sort_by_key(|at| (Reverse(Ordered(self.frames[*at].inclusive)), *at));
        order.truncate(most);
        let mut kept = vec![false; self.frames.len()];
        kept[0] = true;
        order.into_iter().for_each(|at| kept[at] = true);
        kept
    }

    /// Returns the frames that stay, each behind its caller, the longest callee first and "(cut)" last.
    fn ordered(&self, is_kept: impl Fn(usize) -> bool) -> Vec<FlameFrame> {
        let mut siblings: Vec<usize> = (1..self.frames.len()).filter(|at| is_kept(*at)).collect();
        let key = |at: &usize| {
            let frame = &self.frames[*at];
            (frame.parent, frame.subject == FlameSubject::Cut, Reverse(Ordered(frame.inclusive)), frame.subject, *at)
        };
        siblings.sort_by_cached_key(key);
        let start_of = |parent: usize| siblings.partition_point(|at| self.frames[*at].parent < Some(parent));
        let mut ordered: Vec<FlameFrame> = Vec::with_capacity(siblings.len() + 1);
        let mut left: Vec<(usize, Option<usize>)> = vec![(0, None)];
        while let Some((at, parent)) = left.pop() {
            let (start, end) = (start_of(at), start_of(at + 1));
            left.extend(siblings[start..end].iter().rev().map(|child| (*child, Some(ordered.len()))));
            ordered.push(FlameFrame { parent, ..self.frames[at] });
        }
        ordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_frames_are_combined_and_no_time_is_lost() {
        let mut raw = Raw::new();
        let main = raw.add(0, FlameSubject::Outside, Certainty::Certain);
        raw.count(main, 1.0);
        for (at, samples) in [6.0, 0.5, 80.0, 0.5].into_iter().enumerate() {
            let frame = raw.add(main, FlameSubject::Cycle(at), Certainty::Certain);
            raw.count(frame, samples);
            let callee = raw.add(frame, FlameSubject::Kernel, Certainty::Certain);
            raw.count(callee, samples / 4.0);
        }
        let frames = raw.shortened(0.02, 5);
        let shown: Vec<_> = frames.iter().map(|frame| (frame.subject, frame.parent, frame.inclusive)).collect();
        let expected = [
            (FlameSubject::All, None, 109.75),
            (FlameSubject::Outside, Some(0), 109.75),
            (FlameSubject::Cycle(2), Some(1), 100.0),
            (FlameSubject::Kernel, Some(2), 20.0),
            (FlameSubject::Cycle(0), Some(1), 7.5),
            (FlameSubject::Cut, Some(4), 1.5),
            (FlameSubject::Cut, Some(1), 1.25),
        ];
        assert_eq!(shown, expected);
        let own: f64 = frames.iter().map(|frame| frame.own).sum();
        assert_eq!(own, 109.75);
    }
}
