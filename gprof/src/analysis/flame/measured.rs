//! The flame graph of the stacks.

use super::frames::{Certainty, Flame, FlameOrigin, FlameSubject};
use super::raw::Raw;
use crate::analysis::contexts::tree::Frame;
use crate::analysis::stack_tree::StackTree;

/// Makes the flame graph of the stacks. Samples without a stack have a frame if the graph is about the whole
/// program. The graph has `most_frames` frames at most, and those that stand for the others.
pub(crate) fn flame(tree: &StackTree<'_>, is_whole: bool, most_frames: usize) -> Flame {
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
