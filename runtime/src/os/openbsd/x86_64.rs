//! OpenBSD on amd64: the system call, and where the kernel puts the program counter for a handler.

use core::arch::naked_asm;
use core::ffi::c_void;

use super::numbers::pins;

/// Makes a system call. An error number of the kernel comes back negative.
///
/// A function, because the table of pinned system calls names the only `syscall` instruction of the runtime.
///
/// # Safety
///
/// Whatever the call does to memory must be sound: pointers among the arguments are valid for what the kernel reads and
/// writes through them.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn syscall(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    number: usize,
) -> isize {
    naked_asm!(
        ".cfi_startproc",
        "    mov     r10, rcx",
        "    mov     rax, [rsp + 8]",
        "9:  syscall",
        "    jnc     2f",
        "    neg     rax", // the carry flag says that rax has an error number
        "2:  ret",
        ".cfi_endproc",
        ".pushsection .openbsd.syscalls,\"\",@progbits",
        ".balign 4",
        pins!(),
        ".popsection",
    )
}

/// The program counter that a signal interrupted.
///
/// # Safety
///
/// `context` must be the third argument of a handler that was installed with SA_SIGINFO.
#[inline]
pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    // struct sigcontext (machine/signal.h).
    const RIP: usize = 168;
    // SAFETY: the kernel wrote a whole struct sigcontext there.
    unsafe { context.byte_add(RIP).cast::<usize>().read() }
}
