//! On this system, no thunks count calls: see `thunks` on Linux.

use gmon_unwind::{Memory, Object};

/// The address to which ticks at an interrupted instruction belong.
pub(crate) fn owner_of_interrupted(pc: usize, _: impl FnOnce() -> Option<usize>) -> usize {
    pc
}

/// As [`owner_of_interrupted`], for a return address.
pub(crate) fn owner_of_call(pc: usize) -> usize {
    pc
}

/// The tables for an address in a thunk.
pub(super) fn object(_: &impl Memory, _: usize) -> Option<Object<'static>> {
    None
}

/// Whether the code at an address is a thunk.
pub(super) fn have(_: usize) -> bool {
    false
}
