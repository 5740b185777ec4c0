//! OpenBSD on amd64: system calls, and the program counter in a signal handler's context.

use core::arch::naked_asm;
use core::ffi::c_void;

use super::numbers::pins;

/// Makes a system call. Returns the kernel's error numbers as negative numbers.
///
/// This must stay a function that is not inlined: the table of pinned system calls lists the address of the runtime's
/// only `syscall` instruction.
///
/// # Safety
///
/// The call's effect on memory must be sound: pointers in the arguments must be valid for the kernel's reads and
/// writes.
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
        "    neg     rax", // the carry flag is set if rax has an error number
        "2:  ret",
        ".cfi_endproc",
        ".pushsection .openbsd.syscalls,\"\",@progbits",
        ".balign 4",
        pins!(),
        ".popsection",
    )
}

/// Returns the program counter at which a signal interrupted the program.
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
