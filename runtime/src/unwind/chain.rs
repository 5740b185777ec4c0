//! What a walk needs, and what it finds.

use super::cache::Cache;
use super::later::Later;
use super::memory::Memory;
use super::objects::{Object, Objects};
use super::signal_frame::SignalFrames;

/// What walks need besides memory.
pub struct Tables<'a, const N: usize> {
    /// The loaded objects.
    pub objects: Objects<'a>,
    /// How to find other objects. They, or the copies of their tables, must stay as long as a walk uses them.
    pub later: Option<Later<'a>>,
    /// The address of the thread's control block, which C libraries put above the thread's stack, if it is above at all; 0 if it
    /// is not known.
    pub thread: usize,
    /// The rules that were found before.
    pub cache: &'a Cache<N>,
    /// The system's signal frames.
    pub signals: &'a SignalFrames,
}

impl<'a, const N: usize> Tables<'a, N> {
    /// What a function returns for the object with code at an address. The function gets a reference, because a move of an object
    /// can be a call of memcpy.
    pub(super) fn with<R>(
        &self,
        memory: &impl Memory,
        pc: usize,
        function: impl FnOnce(&Object<'a>) -> Option<R>,
    ) -> Option<R> {
        match self.objects.find(pc) {
            Some(object) => function(object),
            // SAFETY: the promise that the field `later` wants.
            None => unsafe { self.later?.with(memory, pc, function) },
        }
    }

    /// Whether the rule at an address may be remembered.
    pub(super) fn may_remember(&self, pc: usize) -> bool {
        self.later.is_none_or(|later| later.list.may_remember) || self.objects.find(pc).is_some()
    }
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The address of an instruction.
    pub pc: usize,
    /// Whether the instruction itself was interrupted. Otherwise the function continues there after a call, and the
    /// call is before `pc`.
    pub is_exact: bool,
}

/// Why a walk is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The last frame has no caller.
    Outermost,
    /// The last frame has a caller that was not found.
    Cut(Cut),
}

/// Why a caller was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The stack has more than [`MOST_FRAMES`](super::MOST_FRAMES) frames, without the levels of a recursion that can be left out.
    TooDeep,
    /// No table describes the function, and the frame pointer does not lead to a caller.
    NoTable,
    /// Memory where the table leads cannot be read, or a register that the table needs is unknown.
    Unreadable,
    /// The table leads to an address where no caller can be.
    Misled,
    /// The next frame is behind the end of a copied stack.
    CopyTooSmall,
    /// The next frame is in the part of a copied stack that the kernel has left out.
    CopyIncomplete,
}

#[cfg(test)]
mod tests {
    use super::super::tests::SIGNALS;
    use super::super::{LaterObjects, Searches, Section};
    use super::*;

    #[test]
    fn rules_of_objects_that_may_be_unloaded_unnoticed_are_not_remembered() {
        let list = [Object::new(0x1000..0x2000, Section { address: 0, bytes: &[] }, None)];
        let (cache, searches) = (Cache::<1>::new(), Searches::new(false));
        let may_remember = |later: Option<bool>| {
            let later = later.map(|may_remember| LaterObjects { last: 0, may_remember });
            let later = later.map(|list| Later { list, copies: None, searches: &searches });
            let objects = Objects::new(&list, 1);
            let tables = Tables { objects, later, thread: 0, cache: &cache, signals: &SIGNALS };
            [0x1800, 0x2800].map(|pc| tables.may_remember(pc))
        };
        assert_eq!([None, Some(true), Some(false)].map(may_remember), [[true; 2], [true; 2], [true, false]]);
    }
}
