//! What differs between processors: DWARF's numbers of registers, and what a few instructions look like.

use super::memory::Memory;
use super::rule::Packing;

/// A processor, as unwind tables describe it. The numbers are DWARF's.
pub trait Architecture {
    /// The stack pointer.
    const STACK_POINTER: u8;
    /// The frame pointer of functions that keep a frame record.
    const FRAME_POINTER: u8;
    /// How far below the frame pointer the frame record is: the caller's frame pointer, and in the next word the return
    /// address. The caller's stack begins behind the record.
    const RECORD_BELOW: usize;
    /// A register that calls preserve and in which some functions keep their CFA while they call others: the dynamic
    /// linker does so while it resolves a function.
    const BASE: u8;
    /// The return address.
    const RETURN_ADDRESS: u8;
    /// Whether a call leaves the return address in a register instead of on the stack.
    const HAS_LINK_REGISTER: bool;
    /// The bits of a return address that are the address. The others authenticate the address.
    const ADDRESS_BITS: usize;
    /// Instructions of tables that only say how return addresses are authenticated. The numbers are the processor's
    /// own.
    const AUTHENTICATION: &'static [u8];
    /// Where the table of the dynamic linker's trampoline begins to be right, in bytes behind the start of the
    /// trampoline, if the table has the return address above the CFA and says so only from there on. No instruction
    /// before that changes the stack.
    const LATE_TABLE: Option<usize>;

    /// Whether the instruction before `pc` is a call.
    fn follows_call(memory: &impl Memory, pc: usize) -> bool;

    /// Whether the code at `pc` or shortly before sets a frame pointer as functions do that keep one. Elsewhere the
    /// frame pointer is a register like others.
    fn keeps_frame_pointer(memory: &impl Memory, pc: usize) -> bool;

    /// Whether the function at `pc` is that of the C library to which the function of a coroutine returns. Where the
    /// table says that the function has no caller, the answer does not matter. `is_start` says whether a function
    /// starts at `pc`.
    fn ends_coroutine(memory: &impl Memory, pc: usize, is_start: bool) -> bool;

    /// Whether `pc` is the address to which the outermost function of a goroutine returns. Go's runtime writes this
    /// return address itself; no call instruction is before the address.
    fn ends_goroutine(_: &impl Memory, _: usize) -> bool {
        false
    }

    /// Reads the instruction at `pc`, which was interrupted: if it is one with which functions begin that keep a frame
    /// pointer, or an instruction of a PLT stub that the linker describes in no table, the result is the caller's
    /// state. The caller must check the return address, because the same instruction may occur elsewhere.
    fn enters_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning>;

    /// The state of the caller, if the interrupted function has pushed nothing, as a leaf; `None` if the stack pointer
    /// contradicts.
    fn leaf(memory: &impl Memory, frame: Returning) -> Option<Returning>;

    /// The function to which the call before `pc` leads, if the code names the function: in the call, or by a slot of
    /// the dynamic linker.
    fn callee(memory: &impl Memory, pc: usize) -> Option<usize>;

    /// Reads the instructions at `pc`: if they remove the frame and return without a branch, the result is the caller's
    /// state. This is exact without any table.
    fn returns_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning>;
}

/// A function without a table has no more code than this behind its start, or its callers are not found.
pub(super) const LARGEST_LEAF: usize = 1 << 16;

/// The registers of a frame that is about to return.
#[derive(Clone, Copy)]
pub struct Returning {
    /// The stack pointer.
    pub sp: usize,
    /// The frame pointer.
    pub fp: usize,
    /// The base register, if it is known.
    pub base: Option<usize>,
    /// The link register, if there is one and it is known; afterwards the return address.
    pub link: Option<usize>,
}

/// How many bytes before the program counter may be the instruction that sets the frame pointer.
pub(super) const NEAR: usize = 4096;

/// The registers that a packed rule names.
pub(super) const fn packing<A: Architecture>() -> Packing {
    Packing { registers: [A::STACK_POINTER, A::FRAME_POINTER, A::BASE] }
}
