//! FreeBSD on amd64: system calls, and the program counter in a signal handler's context.

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
    // SAFETY: the kernel returns values in rax and rdx, overwrites rcx and r11, and sets r8, r9 and r10 to 0. If the
    // carry flag is set, rax has an error number. The caller guarantees that the pointers are valid.
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

/// Returns the program counter at which a signal interrupted the program.
///
/// # Safety
///
/// `context` must be the third argument of a handler that was installed with SA_SIGINFO.
#[inline]
pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    // ucontext_t: the signal set, then mcontext_t, which has rip at offset 160 (machine/ucontext.h).
    const RIP: usize = 176;
    // SAFETY: the kernel wrote a whole ucontext_t there.
    unsafe { context.byte_add(RIP).cast::<usize>().read() }
}
