//! Makes processes and executes programs.

use core::ffi::{c_char, c_int};

use super::{Errno, call, numbers};

/// Makes a child process without the C library. Returns 0 in the child, and the child's process ID in the parent.
pub(crate) fn raw_fork() -> Result<c_int, Errno> {
    // SAFETY: no arguments; the child has a copy of the memory.
    unsafe { call(numbers::FORK, []) }.map(|process| process as c_int)
}

/// As [`raw_fork`]. Stores a process descriptor of the child at `descriptor`.
///
/// # Safety
///
/// `descriptor` must be valid for a write.
pub(crate) unsafe fn raw_pdfork(descriptor: *mut c_int, flags: c_int) -> Result<c_int, Errno> {
    // SAFETY: the kernel writes the descriptor; the child has a copy of the memory.
    unsafe { call(numbers::PDFORK, [descriptor.addr(), flags as usize]) }.map(|process| process as c_int)
}

/// As [`raw_fork`], with flags of rfork(2).
///
/// # Safety
///
/// The child must have a copy of the memory. Parent and child both return from this function, so they must not share
/// the stack.
pub(crate) unsafe fn raw_rfork(flags: c_int) -> Result<c_int, Errno> {
    // SAFETY: the caller guarantees that the child has a copy of the memory.
    unsafe { call(numbers::RFORK, [flags as u32 as usize]) }.map(|process| process as c_int)
}

/// A program to execute.
#[derive(Clone, Copy)]
pub(crate) enum Executable {
    /// The path of the program.
    Path(*const c_char),
    /// A descriptor of the program's file.
    Descriptor(c_int),
}

/// Executes another program. Returns only if the call fails.
///
/// # Safety
///
/// The path must end with a NUL. The arrays must contain NUL-terminated strings and end with a null pointer.
pub(crate) unsafe fn execute(
    program: Executable,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> Errno {
    let (number, program) = match program {
        Executable::Path(path) => (numbers::EXECVE, path.addr()),
        Executable::Descriptor(descriptor) => (numbers::FEXECVE, descriptor as usize),
    };
    // SAFETY: the caller guarantees valid strings and arrays.
    match unsafe { call(number, [program, arguments.addr(), environment.addr()]) } {
        Ok(_) => Errno(0),
        Err(error) => error,
    }
}
