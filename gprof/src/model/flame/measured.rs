//! The flame graph of the stacks.

use super::frames::{Certainty, Flame, FlameOrigin, FlameSubject};
use super::raw::Raw;
use crate::model::contexts::tree::Frame;
use crate::model::stack_tree::StackTree;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::contexts::sums::StackSums;
    use crate::model::contexts::tree::Contexts;
    use crate::model::flame::MOST_FRAMES;

    #[test]
    fn a_measured_flame_has_the_names_of_inlined_functions() {
        let sums = StackSums { without_stack: 2, ..StackSums::default() };
        let tree =
            StackTree { thread: None, contexts: Contexts::default(), own: Vec::new(), inlined: vec![b"f"], sums };
        let subjects = |is_whole| {
            let Flame { frames, inlined, .. } = flame(&tree, is_whole, MOST_FRAMES);
            assert_eq!(inlined, [b"f"]);
            frames.iter().map(|frame| (frame.subject, frame.own)).collect::<Vec<_>>()
        };
        assert_eq!(subjects(true), [(FlameSubject::All, 0.0), (FlameSubject::WithoutStack, 2.0)]);
        assert_eq!(subjects(false), [(FlameSubject::All, 0.0)]);
    }
}
