//! The tree of dominators: the time of each function that can only be reached through another function.

use super::frames::{Certainty, Flame, FlameOrigin, FlameSubject};
use super::raw::Raw;
use crate::model::bounds::Bounds;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bounds::Part;
    use crate::program::image::Symbol;
    use crate::program::symbols::functions::Functions;

    #[test]
    fn samples_in_no_function_are_outside_or_shared() {
        let symbol = Symbol { address: 16, name: b"f", is_static: false, is_func: true };
        let id = Functions::new(vec![symbol], 32).id(0);
        let part = |function, above, is_outside, samples| Part { function, above, is_outside, samples };
        let parts = vec![part(None, None, true, 5.0), part(id, None, false, 1.0), part(None, id, false, 3.0)];
        let bounds = Bounds {
            lower: vec![0.0],
            upper: vec![9.0],
            is_counted: vec![true],
            unseen: 5.0,
            is_upper_exact: true,
            tail_calls: 0,
            doubts: Vec::new(),
            parts,
        };
        let frames = flame(&bounds).frames;
        let found: Vec<_> = frames.iter().map(|frame| (frame.subject, frame.parent, frame.own)).collect();
        let expected = [
            (FlameSubject::All, None, 0.0),
            (FlameSubject::Outside, Some(0), 5.0),
            (FlameSubject::Function(id.unwrap()), Some(0), 1.0),
            (FlameSubject::Shared, Some(2), 3.0),
        ];
        assert_eq!(found, expected);
    }
}
