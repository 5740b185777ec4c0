//! Makes a system call, unless a seccomp filter of the program forbids the call.

use super::errno::Errno;
use super::filter;
use super::machine;

/// Converts the kernel's return value to a result.
pub(super) fn checked(result: isize) -> Result<usize, Errno> {
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

/// Makes a system call of up to six arguments, unless a filter that the program has installed would refuse the call:
/// see [`filter::refusal`].
///
/// # Safety
///
/// As for [`machine::syscall`]: the effect of the call on memory must be sound.
#[inline(always)]
pub(super) unsafe fn call<const N: usize>(number: usize, arguments: [usize; N]) -> Result<usize, Errno> {
    let argument = |index| arguments.get(index).copied().unwrap_or(0);
    let [a, b, c, d, e] = [argument(0), argument(1), argument(2), argument(3), argument(4)];
    // SAFETY: the caller's promise; the kernel ignores the remaining arguments.
    checked(unsafe {
        if N > 5 { call_of_six(number, a, b, c, d, e, argument(5)) } else { call_of_five(number, a, b, c, d, e) }
    })
}

/// # Safety
///
/// As for [`call`]. This one function serves nearly all calls, because a call of a function is shorter than the
/// system call itself.
#[inline(never)]
unsafe fn call_of_five(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { call_of_six(number, a, b, c, d, e, 0) }
}

/// # Safety
///
/// As for [`call`].
#[inline(never)]
unsafe fn call_of_six(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    match filter::refusal(number, a, b, c, d, e, f) {
        0 => {
            // SAFETY: the caller's promise.
            unsafe { machine::syscall(number, [a, b, c, d, e, f]) }
        }
        error => -(error as isize),
    }
}
