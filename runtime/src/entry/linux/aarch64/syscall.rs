//! `syscall`: system calls that the program makes by number.

use core::arch::naked_asm;

use super::super::seccomp::{NUMBERS, SPECIAL, failed, special};

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
        "    cmp     x0, #{end}",
        "    b.hs    1f",
        "    adrp    x9, {numbers}",
        "    add     x9, x9, :lo12:{numbers}",
        "    lsr     x10, x0, #6",
        "    ldr     x9, [x9, x10, lsl #3]",
        "    lsr     x9, x9, x0", // by the lowest six bits of the number
        "    tbnz    x9, #0, 2f",
        "1:",
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
        end = const NUMBERS,
        numbers = sym SPECIAL,
        special = sym special,
        failed = sym failed,
    )
}
