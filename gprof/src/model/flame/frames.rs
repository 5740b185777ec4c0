//! The frames of a flame graph.

use gmon::side_file::CutReason;

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
