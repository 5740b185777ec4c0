//! The threads of all side files, with their calls.

use gmon::Arc;
use gmon::side_file::{self, SideFile};

use super::stacks::Thread;

/// The threads of side files.
#[derive(Default)]
pub(super) struct Threads {
    /// The threads so far.
    pub(super) all: Vec<Thread>,
    /// The calls of functions in none of the images.
    pub(super) outside_calls: u64,
}

impl Threads {
    /// Adds the threads of a side file for which `is_wanted` returns true. Returns the index in [`Threads::all`] of each thread of
    /// the side file. `address` returns the address of a place in code in the common address space of the images, if the place
    /// is in an image.
    pub(super) fn add(
        &mut self,
        side: &SideFile,
        address: impl Fn(side_file::Place) -> Option<u64>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<Option<u32>> {
        let mut indexes = Vec::with_capacity(side.threads().len());
        for (at, thread) in side.threads().iter().enumerate() {
            let next = u32::try_from(self.all.len()).ok().filter(|_| is_wanted(at));
            if next.is_some() {
                let number = Some(thread.number).filter(|number| *number != 0);
                self.all.push(Thread { name: thread.name.clone(), number, calls: Vec::new() });
            }
            indexes.push(next);
        }
        for calls in side.calls() {
            let index = calls.thread().and_then(|thread| *indexes.get(thread)?);
            let Some(thread) = index.and_then(|index| self.all.get_mut(index as usize)) else { continue };
            for call in calls.calls() {
                let Some(selfpc) = address(call.callee) else {
                    self.outside_calls = self.outside_calls.saturating_add(call.count);
                    continue;
                };
                thread.calls.push(Arc::new(address(call.caller).unwrap_or(0), selfpc, call.count));
            }
        }
        indexes
    }
}

/// Returns the index of a thread of a side file, of which `indexes` are the indexes.
pub(super) fn index(indexes: &[Option<u32>], thread: u64) -> Option<u32> {
    usize::try_from(thread).ok().and_then(|thread| *indexes.get(thread)?)
}
