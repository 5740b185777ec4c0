//! OpenBSD on arm64: system calls, and the program counter in a signal handler's context.

use core::arch::naked_asm;
use core::ffi::c_void;

use super::numbers::pins;

/// Makes a system call. Returns the kernel's error numbers as negative numbers.
///
/// This must stay a function that is not inlined: the table of pinned system calls lists the address of the runtime's
/// only `svc` instruction. The kernel continues 12 bytes after the address of `svc`. The two instructions in between
/// stop processors that speculate past `svc`; the program never executes these instructions otherwise.
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
        "    hint    #34", // bti c
        "    mov     x8, x6",
        "9:  svc     #0",
        "    dsb     nsh",
        "    isb",
        "    b.cc    2f",
        "    neg     x0, x0", // the carry flag is set if x0 has an error number
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
    // struct sigcontext (machine/signal.h): the mask in 8 bytes, sp, lr, and elr, the program counter.
    const ELR: usize = 24;
    // SAFETY: the kernel wrote a whole struct sigcontext there.
    unsafe { context.byte_add(ELR).cast::<usize>().read() }
}
