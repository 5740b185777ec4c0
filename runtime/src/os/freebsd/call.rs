//! The system call.

use super::errno::Errno;
use super::machine;

/// Makes a system call of up to six arguments.
///
/// # Safety
///
/// As for [`machine::syscall`]: what the call does to memory must be sound.
#[inline(always)]
pub(super) unsafe fn call<const N: usize>(number: usize, arguments: [usize; N]) -> Result<usize, Errno> {
    let argument = |index| arguments.get(index).copied().unwrap_or(0);
    let [a, b, c, d, e] = [argument(0), argument(1), argument(2), argument(3), argument(4)];
    // SAFETY: the caller's promise; the kernel does not look at arguments that were not given.
    let result = unsafe {
        if N > 5 { machine::syscall(number, [a, b, c, d, e, argument(5)]) } else { call_of_five(number, a, b, c, d, e) }
    };
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

/// # Safety
///
/// As for [`call`]. One function for nearly all calls, because a call of a function is shorter than the system call itself, and with
/// arguments in registers only: below mcount no vector register may be used, which the compiler would clear memory with.
#[inline(never)]
unsafe fn call_of_five(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { machine::syscall(number, [a, b, c, d, e, 0]) }
}
