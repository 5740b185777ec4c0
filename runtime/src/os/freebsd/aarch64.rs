//! FreeBSD on arm64: system calls, and where the kernel puts the program counter for a handler.

use core::arch::asm;
use core::ffi::c_void;

/// Makes a system call. An error number of the kernel comes back negative.
///
/// # Safety
///
/// Whatever the call does to memory must be sound: pointers among the arguments are valid for what the kernel reads and
/// writes through them.
#[inline]
pub(super) unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the kernel returns in x0 and x1. The carry flag says that x0 has an error number. No other register is relied on.
    // The caller vouches for memory.
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

/// The program counter that a signal interrupted.
///
/// # Safety
///
/// `context` must be the third argument of a handler that was installed with SA_SIGINFO.
#[inline]
pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    // ucontext_t: the set of signals, then mcontext_t: x0 to x29, lr, sp, and elr, the program counter (machine/ucontext.h).
    const ELR: usize = 272;
    // SAFETY: the kernel wrote a whole ucontext_t there.
    unsafe { context.byte_add(ELR).cast::<usize>().read() }
}
