//! System calls.

use super::errno::Errno;
use super::machine;

/// Makes a system call of up to six arguments.
///
/// # Safety
///
/// As for [`machine::syscall`]: the call's effect on memory must be sound.
#[inline(always)]
pub(super) unsafe fn call<const N: usize>(number: usize, arguments: [usize; N]) -> Result<usize, Errno> {
    let argument = |index| arguments.get(index).copied().unwrap_or(0);
    let [a, b, c, d, e] = [argument(0), argument(1), argument(2), argument(3), argument(4)];
    // SAFETY: the caller guarantees that the call is sound; the kernel ignores the arguments that the call does not
    // have.
    let result = unsafe {
        if N > 5 { machine::syscall(number, [a, b, c, d, e, argument(5)]) } else { call_of_five(number, a, b, c, d, e) }
    };
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

/// # Safety
///
/// As for [`call`]. Nearly all system calls share this function, because a function call needs less code than a system
/// call. The arguments are in registers, because the compiler would use vector registers to clear an array, and code
/// below mcount must not.
#[inline(never)]
unsafe fn call_of_five(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
    // SAFETY: the caller guarantees that the call is sound.
    unsafe { machine::syscall(number, [a, b, c, d, e, 0]) }
}
