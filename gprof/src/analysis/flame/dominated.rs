//! The tree of dominators: the time of each function that can only be reached through another function.

use super::frames::{Certainty, Flame, FlameOrigin, FlameSubject};
use super::raw::Raw;
use crate::analysis::bounds::Bounds;

/// Makes the flame graph.
pub(crate) fn flame(bounds: &Bounds) -> Flame {
    let mut raw = Raw::new();
    let mut frame_of = vec![0_usize; bounds.lower.len()];
    for part in &bounds.parts {
        let above = part.above.map_or(0, |above| frame_of[above.index()]);
        let subject = match part.function {
            Some(id) => FlameSubject::Function(id),
            None if part.is_outside => FlameSubject::Outside,
            None => FlameSubject::Shared,
        };
        let frame = raw.add(above, subject, Certainty::Certain);
        if let Some(id) = part.function {
            frame_of[id.index()] = frame;
        }
        raw.count(frame, part.samples);
    }
    raw.finish(FlameOrigin::Dominators, |_| 0.0)
}
