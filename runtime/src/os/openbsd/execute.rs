//! Executes another program.

use core::ffi::c_char;

use super::{Errno, call, numbers};

/// Executes another program. Returns only if the call fails.
///
/// # Safety
///
/// The path must end with a NUL. The arrays must contain NUL-terminated strings and end with a null pointer.
pub(crate) unsafe fn execute(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> Errno {
    // SAFETY: the caller guarantees valid strings and arrays.
    match unsafe { call(numbers::EXECVE, [path.addr(), arguments.addr(), environment.addr()]) } {
        Ok(_) => Errno(0),
        Err(error) => error,
    }
}
