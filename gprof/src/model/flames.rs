//! The flame graphs of an analysis, which are made when a renderer asks for them, and the names of their frames.

use std::borrow::Cow;

use super::analysis::Analysis;
use super::bounds::{Bounds, BoundsDoubt};
use super::contexts::call_sites::TailCalls;
use super::flame::{self, Flame, FlameSubject, MOST_FRAMES, estimated};
use super::names::Named;
use super::selection::Selections;
use super::stack_tree::StackTree;
use crate::sources::stacks::Thread;

impl<'data> Analysis<'data> {
    /// Returns the flame graph: measured if there are stacks, unless [`Options::propagate`](crate::Options::propagate)
    /// asks for estimates, and estimated from the calls otherwise. The first call makes it.
    #[must_use]
    pub fn flame(&self) -> &Flame {
        self.parts.flame.get_or_init(|| match self.stack_tree() {
            Some(tree) => flame::measured_flame(tree, self.is_of_whole_program(), MOST_FRAMES),
            None => {
                // Bounds that may not hold are not shown.
                let bounds = self.is_of_whole_program().then(|| self.all_bounds());
                let bounds = bounds.filter(|bounds| bounds.doubts.is_empty());
                estimated::flame(self.graph(), &self.functions, bounds.as_ref(), self.lacks_calls())
            }
        })
    }

    /// Returns the flame graph of a thread, or of the samples of no thread, if the runs counted by thread. `threads`
    /// flame graphs have together as many frames at most as the one of all threads.
    #[must_use]
    pub fn thread_flame(&self, thread: Option<&Thread>, threads: usize) -> Option<Flame> {
        let is_same = |tree: &&StackTree<'_>| match (tree.thread, thread) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let tree = self.thread_trees().iter().find(is_same)?;
        let is_whole = thread.is_none() && self.is_of_whole_program();
        Some(flame::measured_flame(tree, is_whole, MOST_FRAMES / threads.max(1)))
    }

    /// Returns the tree of dominators as a flame graph: a function stands on the function through which all calls lead
    /// to it, so no time is an estimate, unless calls are missing that were not counted. The graph is of the whole
    /// program, whatever the options choose. The first call makes it.
    #[must_use]
    pub fn dominators(&self) -> &Flame {
        self.parts.dominators.get_or_init(|| flame::dominator_flame(&self.all_bounds()))
    }

    fn all_bounds(&self) -> Bounds {
        let program = Selections::program(&self.functions).flat;
        let mut bounds = Bounds::new(self.profile, self.innermost(), &TailCalls::default(), &self.functions, &program);
        bounds.doubts.extend(self.lacks_calls().then_some(BoundsDoubt::CallsOnDemand));
        bounds
    }

    /// Returns the name of a frame of a flame graph. What is not a function has a name in parentheses or angle
    /// brackets.
    #[must_use]
    pub fn flame_name(&self, flame: &Flame, subject: FlameSubject) -> Cow<'_, [u8]> {
        self.spelled(match subject {
            FlameSubject::All => Named::All,
            FlameSubject::Function(id) => Named::Located(id),
            FlameSubject::Inlined(number) => {
                Named::Inlined(flame.inlined.get(number as usize).map(Vec::as_slice).unwrap_or_default())
            }
            FlameSubject::Cycle(at) => Named::Cycle(at),
            FlameSubject::Kernel => Named::Kernel,
            FlameSubject::Outside => Named::Outside,
            FlameSubject::Unknown(reason) => Named::Cut(reason),
            FlameSubject::WithoutStack => Named::WithoutStack,
            FlameSubject::Shared => Named::Shared,
            FlameSubject::Cut => Named::LeftOut("(cut)"),
        })
    }
}
