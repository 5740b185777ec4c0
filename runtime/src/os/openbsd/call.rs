//! The system call.

use super::errno::Errno;
use super::{machine, promises};

/// Makes a system call of up to six arguments.
///
/// # Errors
///
/// The kernel's error; EPERM if the program's promises do not allow the call: the kernel would kill the process.
///
/// # Safety
///
/// As for [`machine::syscall`]: what the call does to memory must be sound.
#[inline(always)]
pub(super) unsafe fn call<const N: usize>(number: usize, arguments: [usize; N]) -> Result<usize, Errno> {
    let argument = |index| arguments.get(index).copied().unwrap_or(0);
    let [a, b, c, d, e, f] = [argument(0), argument(1), argument(2), argument(3), argument(4), argument(5)];
    if !promises::allow(number, c) {
        return Err(Errno::EPERM);
    }
    // SAFETY: the caller's promise; the kernel does not look at arguments that were not given.
    let result = unsafe { machine::syscall(a, b, c, d, e, f, number) };
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}
