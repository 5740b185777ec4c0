//! `syscall`: system calls that the program makes by number.

use core::arch::naked_asm;

use super::super::seccomp::{failed, special};
use crate::os::numbers;

/// `long syscall(long number, ...)`: as the C library's, except for calls that the runtime must know.
///
/// There is no frame, as in the C library: the child of a `vfork` made by this function returns on its parent's
/// stack.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall() {
    naked_asm!(
        ".cfi_startproc",
        "    hint    #34", // bti c
        "    cmp     x0, #{seccomp}",
        "    b.eq    2f",
        "    cmp     x0, #{prctl}",
        "    b.eq    2f",
        "    cmp     x0, #{mlockall}",
        "    b.eq    2f",
        "    cmp     x0, #{exit}",
        "    b.eq    2f",
        "    cmp     x0, #{exit_group}",
        "    b.eq    2f",
        "    mov     x8, x0",
        "    mov     x0, x1",
        "    mov     x1, x2",
        "    mov     x2, x3",
        "    mov     x3, x4",
        "    mov     x4, x5",
        "    mov     x5, x6",
        "    svc     #0",
        "    cmn     x0, #4095",
        "    b.hs    3f",
        "    ret",
        "2:  b       {special}",
        "3:  b       {failed}",
        ".cfi_endproc",
        seccomp = const numbers::SECCOMP,
        prctl = const numbers::PRCTL,
        mlockall = const numbers::MLOCKALL,
        exit = const numbers::EXIT,
        exit_group = const numbers::EXIT_GROUP,
        special = sym special,
        failed = sym failed,
    )
}
