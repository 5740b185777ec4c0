//! Which object is loaded where, and which objects were unloaded.

mod for_walks;
mod headers;
mod inventory;
mod linker_list;
mod loaded;
mod loader;
pub mod program;
mod tally;

pub use for_walks::publish;
pub(crate) use inventory::{Listed, for_each_mapping, for_each_object};
#[cfg(test)]
pub(crate) use loaded::NOWHERE;
pub(crate) use loaded::{
    ADDRESS_BITS, ELSEWHERE, KERNEL, PROGRAM, VDSO, accept_look, after_fork_in_child, for_each_code, for_each_gone,
    is_object, look, look_ahead, look_at_all, next_place, number, object, path, place, set_program,
};
pub(crate) use loader::{Iterate, Seen, dl_iterate_phdr, look_at_list};
pub(crate) use tally::Tally;
