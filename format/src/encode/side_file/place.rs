//! Places in code, and what counts are about.

use crate::layout::side_file::CUT;

/// A place in the code of an object, or one of the places outside of all objects.
///
/// An address is that of the object's file, as the linker gave it. The numbers [`KERNEL`], [`ELSEWHERE`], [`THREAD`]
/// and [`CUT`] are of no object.
///
/// [`KERNEL`]: crate::layout::side_file::KERNEL
/// [`ELSEWHERE`]: crate::layout::side_file::ELSEWHERE
/// [`THREAD`]: crate::layout::side_file::THREAD
/// [`CUT`]: crate::layout::side_file::CUT
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The number of the object.
    pub object: u32,
    /// The address in the object. For a thread, its index in the list of threads; for a cut, the code of the reason.
    pub address: u64,
}

/// The calls from one place to one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    /// The place in the caller: the return address of the call.
    pub caller: Place,
    /// The place in the called function.
    pub callee: Place,
    /// The number of calls.
    pub count: u64,
}

/// Why the chain of callers of a sample is missing, wholly or beyond a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CutReason(u32);

impl CutReason {
    /// The sample came without a stack: another process, or the kernel, took it.
    pub const NO_STACK: CutReason = CutReason(1);
    /// Walking was switched off.
    pub const OFF: CutReason = CutReason(2);
    /// The tree had no memory for a node, or had as many nodes as it may have.
    pub const NO_MEMORY: CutReason = CutReason(3);
    /// Other threads were using all buffers for walks.
    pub const NO_BUFFER: CutReason = CutReason(4);
    /// The code has neither unwind tables nor a valid frame pointer.
    pub const NO_TABLE: CutReason = CutReason(5);
    /// The unwind table uses an operation that the walker does not have.
    pub const UNSUPPORTED: CutReason = CutReason(6);
    /// The next frame was not above the previous one.
    pub const BAD_FRAME: CutReason = CutReason(7);
    /// The stack was not readable at the next frame.
    pub const UNREADABLE: CutReason = CutReason(8);
    /// A return address was in no known code.
    pub const UNKNOWN_CODE: CutReason = CutReason(9);
    /// The stack had more frames than are walked.
    pub const TOO_DEEP: CutReason = CutReason(10);
    /// A live file was read while the outer part of the chain was being added.
    pub const UNFINISHED: CutReason = CutReason(11);
    /// The process added its counts to those of other processes, and did not keep its stacks.
    pub const NOT_KEPT: CutReason = CutReason(12);
    /// The walk of the stack had not ended when the file was written, or the sample came at that moment.
    pub const STILL_WALKING: CutReason = CutReason(13);
    /// The stack had more frames than are kept. Those in the middle are missing, between the frames above and below
    /// this node.
    pub const MIDDLE: CutReason = CutReason(14);
    /// The kernel's copy of the stack was too small for the rest of the chain.
    pub const COPY_TOO_SMALL: CutReason = CutReason(15);
    /// The kernel's copy of the stack ended at a page that was not in memory, because the program had never touched the
    /// page.
    pub const COPY_INCOMPLETE: CutReason = CutReason(16);

    /// The reason with this code. A reader of an older version may not know the reason.
    #[must_use]
    pub const fn from_code(code: u32) -> CutReason {
        CutReason(code)
    }

    /// The number in the file.
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0
    }

    /// The place of a node below which the chains hang that were cut for this reason.
    #[must_use]
    pub const fn place(self) -> Place {
        Place { object: CUT, address: self.0 as u64 }
    }
}
