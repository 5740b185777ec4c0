//! The objects that a walk of this process asks for: those of the start, and those that were loaded later.

use gmon_unwind::{Loaded, Memory, Object, Objects};

use super::later::Later;
use super::thunks;

/// The objects of the start, and how to find other objects.
pub(super) struct AllObjects<'a> {
    objects: Objects<'a>,
    later: Option<Later<'a>>,
}

impl<'a> AllObjects<'a> {
    /// The objects of a walk.
    ///
    /// # Safety
    ///
    /// The objects that are found by `later`, or the copies of their tables, must stay for `'a`.
    pub(super) unsafe fn new(objects: Objects<'a>, later: Option<Later<'a>>) -> AllObjects<'a> {
        AllObjects { objects, later }
    }
}

impl<'a> Loaded<'a> for AllObjects<'a> {
    /// Programs that are compiled with -pg seldom generate code. The start-up objects stay small.
    const FOLLOWS_RECORDS: bool = cfg!(feature = "preload");

    fn with<R>(
        &self,
        memory: &impl Memory,
        address: usize,
        function: impl FnOnce(&Object<'a>) -> Option<R>,
    ) -> Option<R> {
        if let Some(thunks) = thunks::object(memory, address) {
            return function(&thunks);
        }
        match self.objects.find(address) {
            Some(object) => function(object),
            // SAFETY: the promise of the creator.
            None => unsafe { self.later?.with(memory, address, function) },
        }
    }

    fn generation(&self) -> u64 {
        self.objects.generation()
    }

    fn may_remember(&self, address: usize) -> bool {
        self.later.is_none_or(|later| later.list.may_remember) || self.objects.find(address).is_some()
    }
}

#[cfg(test)]
mod tests {
    use gmon_unwind::Section;

    use super::super::later::LaterObjects;
    use super::super::searches::Searches;
    use super::*;

    #[test]
    fn rules_of_objects_that_may_be_unloaded_unnoticed_are_not_remembered() {
        let list = [Object::new(0x1000..0x2000, Section { address: 0, bytes: &[] }, None)];
        let searches = Searches::new(false);
        let may_remember = |later: Option<bool>| {
            let later = later.map(|may_remember| LaterObjects { last: 0, may_remember });
            let later = later.map(|list| Later { list, copies: None, searches: &searches });
            // SAFETY: no object is found.
            let objects = unsafe { AllObjects::new(Objects::new(&list, 1), later) };
            [0x1800, 0x2800].map(|pc| objects.may_remember(pc))
        };
        assert_eq!([None, Some(true), Some(false)].map(may_remember), [[true; 2], [true; 2], [true, false]]);
    }
}
