//! The address to which a tick belongs, where code is interrupted that counts calls on demand.

use core::ptr;

use super::bins;
use crate::os::{PAGE, copy_own_memory};
use crate::unwind::{Stack, thunks};

/// The address to which ticks at the innermost frame of a stack belong.
pub(super) fn owner(pc: usize, stack: Stack<'_>) -> usize {
    thunks::owner_of_interrupted(pc, || code_at(pc, matches!(stack, Stack::Interrupted(_))))
}

/// The address to which ticks belong of which only the pc is known.
pub(super) fn owner_of_pc(pc: usize) -> usize {
    thunks::owner_of_interrupted(pc, || code_at(pc, false))
}

/// The eight bytes at a program counter; `None` if some of the bytes cannot be read. If `is_here`, this thread was
/// about to execute the code there. Otherwise the code may be gone, unless it is the program's, and is not read then.
fn code_at(pc: usize, is_here: bool) -> Option<usize> {
    if !is_here && !bins::covers(pc) {
        return None;
    }
    if pc % PAGE > PAGE - size_of::<usize>() {
        let mut bytes = [0; size_of::<usize>()];
        return copy_own_memory(pc, &mut bytes).then(|| usize::from_ne_bytes(bytes));
    }
    // SAFETY: the code is there, and all eight bytes are on its page.
    Some(unsafe { ptr::with_exposed_provenance::<usize>(pc).read_unaligned() })
}
