//! The address to which a tick belongs, where code is interrupted that counts calls on demand.

use super::bins;
use crate::unwind::{Stack, thunks};

/// The address to which ticks at the innermost frame of a stack belong. This thread is about to execute the code,
/// unless the stack is a copy: then the code may be gone, if it is not the program's.
pub(super) fn owner(pc: usize, stack: Stack<'_>) -> usize {
    thunks::owner_of_interrupted(pc, || matches!(stack, Stack::Interrupted(_)) || bins::covers(pc))
}

/// The address to which ticks belong of which only the pc is known.
pub(super) fn owner_of_pc(pc: usize) -> usize {
    thunks::owner_of_interrupted(pc, || bins::covers(pc))
}
