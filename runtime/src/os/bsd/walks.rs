//! What a walk through a stack needs of the system. The kernel samples these systems' programs, so no handler walks:
//! nothing can be read.

use core::sync::atomic::AtomicU64;

/// No signal frame is known.
pub const SIGNAL_TRAMPOLINE: &[u8] = &[];
pub const SIGNAL_TRAMPOLINE_CALL: usize = 0;
pub const CONTEXT_ABOVE_STACK: usize = 0;
pub const CONTEXT_REGISTERS: &[u16] = &[];
pub const CONTEXT_PC: u16 = 0;

/// Whether the eight bytes at an address can be read now.
#[must_use]
pub fn is_readable(_: usize) -> bool {
    false
}

/// The same, in a signal handler.
#[must_use]
pub fn is_readable_in_handler(_: usize) -> bool {
    false
}

/// Fills `bytes` with this process's memory at an address. The result says whether all could be read.
#[must_use]
pub fn copy_own_memory(_: usize, _: &mut [u8]) -> bool {
    false
}

/// Stores nothing: only walks ask for the name of this thread.
pub(crate) fn store_thread_name(_: &[AtomicU64; 2]) {}

/// The name of another thread.
pub(crate) fn name_of_thread(_: i32) -> [u64; 2] {
    [0; 2]
}

/// The address of the kernel's object; 0 if none is known.
pub(crate) fn vdso() -> usize {
    0
}
