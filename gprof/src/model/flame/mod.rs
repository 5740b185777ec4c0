//! Flame graphs: trees of frames with times, small enough to draw.

mod callees;
pub(super) mod dominated;
pub(super) mod estimated;
mod frames;
pub(super) mod measured;
mod raw;

pub(super) use raw::MOST_FRAMES;

pub use frames::{Certainty, Flame, FlameFrame, FlameOrigin, FlameSubject};
