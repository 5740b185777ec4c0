//! Flame graphs: trees of frames with times, small enough to draw.
//!
//! This file has the flame graph of the stacks, and the tree of dominators: the time of each function that can only be
//! reached through another function. `estimated` has the flame graph that is estimated from the calls.

pub(super) mod estimated;
mod frames;

pub(super) use frames::MOST_FRAMES;

pub use frames::{Certainty, Flame, FlameFrame, FlameOrigin, FlameSubject};

use super::bounds::{Bounds, BoundsDoubt};
use super::contexts::tree::Frame;
use super::stack_tree::StackTree;
use frames::Raw;

/// Makes the flame graph of the stacks. Samples without a stack have a frame if the graph is about the whole
/// program. The graph has `most_frames` frames at most, and those that stand for the others.
pub(crate) fn measured_flame(tree: &StackTree<'_>, is_whole: bool, most_frames: usize) -> Flame {
    let StackTree { contexts, own, inlined, sums, .. } = tree;
    let mut raw = Raw::new();
    for (context, samples) in contexts.all().iter().zip(own) {
        let subject = match context.frame {
            Frame::Function(id) => FlameSubject::Function(id),
            Frame::Inlined(number) => FlameSubject::Inlined(number),
            Frame::Kernel => FlameSubject::Kernel,
            Frame::Outside => FlameSubject::Outside,
            Frame::Cut(reason) => FlameSubject::Unknown(reason),
        };
        let certainty = if context.is_doubtful() { Certainty::Doubtful } else { Certainty::Certain };
        // The first frame is the whole program, and frame 1 + n is context n.
        let frame = raw.add(context.parent().map_or(0, |parent| parent + 1), subject, certainty);
        raw.count(frame, *samples as f64);
    }
    let without = tree.without_stack() as f64;
    if is_whole && without > 0.0 {
        let frame = raw.add(0, FlameSubject::WithoutStack, Certainty::Certain);
        raw.count(frame, without);
    }
    let flame = raw.finish_with(FlameOrigin::Measured, most_frames, |samples| sums.error(samples));
    Flame { inlined: inlined.iter().map(|symbol| symbol.to_vec()).collect(), ..flame }
}

/// Makes the flame graph.
pub(crate) fn dominator_flame(bounds: &Bounds) -> Flame {
    let mut raw = Raw::new();
    let lacks_calls = bounds.doubts.contains(&BoundsDoubt::CallsOnDemand);
    let certainty = if lacks_calls { Certainty::Estimated } else { Certainty::Certain };
    let mut frame_of = vec![0_usize; bounds.lower.len()];
    for part in &bounds.parts {
        let above = part.above.map_or(0, |above| frame_of[above.index()]);
        let subject = match part.function {
            Some(id) => FlameSubject::Function(id),
            None if part.is_outside => FlameSubject::Outside,
            None => FlameSubject::Shared,
        };
        let frame = raw.add(above, subject, certainty);
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
    use crate::model::contexts::ticks::StackSums;
    use crate::model::contexts::tree::Contexts;
    use crate::program::image::Symbol;
    use crate::program::symbols::functions::Functions;

    #[test]
    fn a_measured_flame_has_the_names_of_inlined_functions() {
        let sums = StackSums { without_stack: 2, ..StackSums::default() };
        let tree =
            StackTree { thread: None, contexts: Contexts::default(), own: Vec::new(), inlined: vec![b"f"], sums };
        let subjects = |is_whole| {
            let Flame { frames, inlined, .. } = measured_flame(&tree, is_whole, MOST_FRAMES);
            assert_eq!(inlined, [b"f"]);
            frames.iter().map(|frame| (frame.subject, frame.own)).collect::<Vec<_>>()
        };
        assert_eq!(subjects(true), [(FlameSubject::All, 0.0), (FlameSubject::WithoutStack, 2.0)]);
        assert_eq!(subjects(false), [(FlameSubject::All, 0.0)]);
    }

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
        let frames = dominator_flame(&bounds).frames;
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
