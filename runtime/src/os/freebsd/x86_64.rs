//! FreeBSD on amd64: system calls, and where the kernel puts the program counter for a handler.

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
    // SAFETY: the kernel returns in rax and rdx, loses rcx and r11, and sets r8, r9 and r10 to 0. The carry flag says that rax
    // has an error number. The caller vouches for memory.
    unsafe {
        asm!(
            "syscall",
            "jnc 2f",
            "neg rax",
            "2:",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            inlateout("rdx") c => _,
            inlateout("r10") d => _,
            inlateout("r8") e => _,
            inlateout("r9") f => _,
            lateout("rcx") _,
            lateout("r11") _,
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
    // ucontext_t: the set of signals, then mcontext_t, whose rip stands at 160 (machine/ucontext.h).
    const RIP: usize = 176;
    // SAFETY: the kernel wrote a whole ucontext_t there.
    unsafe { context.byte_add(RIP).cast::<usize>().read() }
}
