//! System calls with a varying number of arguments.

use super::errno::Errno;
use super::{machine, promises};

/// Makes a system call with up to six arguments.
///
/// # Errors
///
/// The kernel's error; EPERM if the program's promises do not allow the call: the kernel would kill the process.
///
/// # Safety
///
/// The same as for [`machine::syscall`]: the call's effect on memory must be sound.
#[inline(always)]
pub(super) unsafe fn call<const N: usize>(number: usize, arguments: [usize; N]) -> Result<usize, Errno> {
    let argument = |index| arguments.get(index).copied().unwrap_or(0);
    let [a, b, c, d, e, f] = [argument(0), argument(1), argument(2), argument(3), argument(4), argument(5)];
    if !promises::allow(number, c) {
        return Err(Errno::EPERM);
    }
    // SAFETY: the caller guarantees that the effect on memory is sound. The kernel does not use the arguments that are
    // filled with 0.
    let result = unsafe { machine::syscall(a, b, c, d, e, f, number) };
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}
