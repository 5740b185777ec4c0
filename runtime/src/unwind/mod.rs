//! Walks the stacks of this process: what touches a live stack, and the objects of this process.
//!
//! The crate `gmon_unwind` is the walk itself. It asks for words of memory and for objects. These modules, bottom up,
//! answer from the live process:
//!
//! * `pages`: a memory that asks before it reads a page; `copied`: a copy of a stack
//! * `in_place`: the tables of a loaded object where they are; `searches`: what a search for other objects reads
//! * `table_copies`: copies of the tables of objects that are loaded after the start, for copied stacks; `later`: finds
//!   these objects
//! * `all_objects`: the objects of the start and the later ones; `published`: what signal handlers use
//! * `thunks`: the code that counts calls on demand
//! * `kept_ends`: the memory for the outermost frames of deep stacks
//! * `this_process`: the walks

mod all_objects;
mod copied;
mod in_place;
mod kept_ends;
mod later;
mod pages;
mod published;
mod searches;
mod table_copies;
mod this_process;
pub(crate) mod thunks;

pub use copied::CopiedStack;
pub(crate) use gmon_unwind::Memory;
pub use gmon_unwind::{Cut, Ending, Frame, MOST_FRAMES, Object, Reach, Trail, Walked};
pub(crate) use later::Description;
pub use later::LaterObjects;
pub use published::Known;
pub use searches::Searches;
pub use this_process::{Stack, publish, walk, walk_stack, while_closing};
pub(crate) use this_process::{after_fork_in_child, describe_later, is_closing, object, object_at, stays};

/// Words by address: the memory that tests make up.
#[cfg(test)]
#[derive(Default)]
struct Words(std::collections::HashMap<usize, usize>);

#[cfg(test)]
impl Words {
    fn extend<const N: usize>(&mut self, words: [(usize, usize); N]) {
        self.0.extend(words);
    }
}

#[cfg(test)]
impl Memory for Words {
    fn read(&self, address: usize) -> Option<usize> {
        self.0.get(&address).copied()
    }
}
