//! What a walk needs, and what it finds.

use super::cache::Cache;
use super::signal_frame::SignalFrames;

/// What walks need besides memory.
pub struct Tables<'a, O, const N: usize> {
    /// The loaded objects.
    pub objects: O,
    /// The address of the thread's control block, which C libraries put above the thread's stack, if it is above at
    /// all; 0 if it is not known.
    pub thread: usize,
    /// The rules that were found before.
    pub cache: &'a Cache<N>,
    /// The system's signal frames.
    pub signals: &'a SignalFrames,
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
    /// The stack has more than [`MOST_FRAMES`](super::MOST_FRAMES) frames, without the levels of a recursion that can
    /// be left out.
    TooDeep,
    /// No table describes the function, and the frame pointer does not lead to a caller.
    NoTable,
    /// Memory where the table leads cannot be read, or a register that the table needs is unknown.
    Unreadable,
    /// The table leads to an address where no caller can be.
    Misled,
    /// The next frame is behind the end of a copied stack. A walk does not say so; who copied the stack may.
    CopyTooSmall,
    /// The next frame is in the part of a copied stack that the kernel has left out. A walk does not say so either.
    CopyIncomplete,
}
