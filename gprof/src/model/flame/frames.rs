//! The frames of a flame graph, and all frames of a tree before short ones are combined.

use std::cmp::Reverse;

use gmon::side_file::CutReason;

use crate::model::ordered::Ordered;
use crate::program::symbols::functions::FunctionId;

/// What a frame of a flame graph is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FlameSubject {
    /// The whole program.
    All,
    /// A function.
    Function(FunctionId),
    /// A function that was inlined into the caller: the index of its symbol in [`Flame::inlined`].
    Inlined(u32),
    /// The cycle with this index; the frames above it are its members.
    Cycle(usize),
    /// The kernel.
    Kernel,
    /// Code in no function of the images.
    Outside,
    /// The outer part of the stack is not known, for this reason.
    Unknown(CutReason),
    /// The samples without a stack.
    WithoutStack,
    /// Code in bins that several functions share.
    Shared,
    /// The frames that are too short to be drawn.
    Cut,
}

/// How well the time of a frame is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The time was measured, or only one path of calls leads to the frame.
    Certain,
    /// The frame was measured, but a tail call may have removed another function in its place.
    Doubtful,
    /// The time was divided among several callers by their calls.
    Estimated,
}

/// A frame of a flame graph. Times are in samples; [`Clock::time`](crate::Clock::time) converts them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FlameFrame {
    /// The index of the caller's frame; `None` for the first frame, which is the whole program.
    pub parent: Option<usize>,
    /// What the frame is about.
    pub subject: FlameSubject,
    /// The time of the frame and of all frames that it called.
    pub inclusive: f64,
    /// The time of the frame alone.
    pub own: f64,
    /// The standard error of `inclusive`; 0 if the time is an estimate.
    pub error: f64,
    /// How well the time is known.
    pub certainty: Certainty,
    /// The least and the longest time that the profile allows for the frame, if the time is an estimate.
    pub bounds: Option<(f64, f64)>,
}

/// From what the times of a flame graph come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameOrigin {
    /// The stacks of the samples.
    Measured,
    /// The calls: each caller gets a share of the time of the called function.
    Estimated,
    /// The calls: each function stands above the functions that only it leads to.
    Dominators,
}

/// A flame graph. The inclusive time of each frame is its own time and the inclusive times of its callees' frames.
#[derive(Debug)]
#[non_exhaustive]
pub struct Flame {
    /// From what the times come.
    pub origin: FlameOrigin,
    /// The frames: each behind its caller's frame, and the callees of a frame with the longest time first.
    pub frames: Vec<FlameFrame>,
    /// The symbols of inlined functions.
    pub inlined: Vec<Vec<u8>>,
}

impl Flame {
    /// Returns the time of all frames, in samples.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.frames.first().map_or(0.0, |all| all.inclusive)
    }
}

/// Frames shorter than this part of the time are combined.
pub(super) const LEAST_PART: f64 = 1e-4;

/// The most frames of a flame graph that are not combined. A chain of calls may be as long as the input, and each frame
/// is drawn.
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

    /// Returns the flame graph. `error` is the standard error of a number of samples. Frames with less than a part of
    /// all time, and those beyond a number of frames, become frames called "(cut)", so that no time is lost.
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
