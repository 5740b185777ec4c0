//! FreeBSD on arm64: system calls, and the program counter in a signal handler's context.

use core::arch::asm;
use core::ffi::c_void;

/// Makes a system call. Returns the kernel's error numbers as negative numbers.
///
/// # Safety
///
/// The call's effect on memory must be sound: pointers in the arguments must be valid for the kernel's reads and
/// writes.
#[inline]
pub(super) unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the kernel returns values in x0 and x1. If the carry flag is set, x0 has an error number. The code relies
    // on no other register. The caller guarantees that the pointers are valid.
    unsafe {
        asm!(
            "svc #0",
            "b.cc 2f",
            "neg x0, x0",
            "2:",
            inlateout("x8") number => _,
            inlateout("x0") a as isize => result,
            inlateout("x1") b => _,
            inlateout("x2") c => _,
            inlateout("x3") d => _,
            inlateout("x4") e => _,
            inlateout("x5") f => _,
            lateout("x6") _,
            lateout("x7") _,
            lateout("x16") _,
            lateout("x17") _,
            options(nostack),
        );
    }
    result
}

/// Returns the program counter at which a signal interrupted the program.
///
/// # Safety
///
/// `context` must be the third argument of a handler that was installed with SA_SIGINFO.
#[inline]
pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    // ucontext_t: the signal set, then mcontext_t: x0 to x29, lr, sp, and elr, the program counter
    // (machine/ucontext.h).
    const ELR: usize = 272;
    // SAFETY: the kernel wrote a whole ucontext_t there.
    unsafe { context.byte_add(ELR).cast::<usize>().read() }
}
