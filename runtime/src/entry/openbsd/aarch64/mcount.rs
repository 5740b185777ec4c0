//! `__mcount`, the function that compilers for OpenBSD call at the start of every function.
//!
//! The functions of libc_p.a that are written in assembly call `__mcount` before they use their arguments
//! (`machine/asm.h`), so `__mcount` must keep the arguments, unlike `mcount` on other systems. x9 to x17 never have
//! arguments.

use core::arch::naked_asm;

/// Copies x0 and x1, which `mcount` needs for the arguments of [`miss`], and jumps to `mcount`. The common path of
/// `mcount` does not change x0 to x8, x15, x16, and x17.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __mcount() {
    naked_asm!(
        ".p2align 4",
        ".cfi_startproc",
        "    hint    #34", // bti c
        "    mov     x15, x0",
        "    mov     x16, x1",
        "    b       mcount",
        ".cfi_endproc",
    )
}

/// Calls the slow path of `mcount`, and keeps the arguments of the profiled function: x2 to x8, and the copies of x0
/// and x1 that `__mcount` made. The slow path uses no vector register, so the function does not save vector registers.
///
/// A function that calls `mcount` or `_mcount` directly, as a C function, gets undefined values in x0 and x1, as from
/// any C function.
#[unsafe(naked)]
pub(in super::super::super) unsafe extern "C" fn miss(frompc: usize, selfpc: usize) {
    naked_asm!(
        ".cfi_startproc",
        "    stp     x29, x30, [sp, #-96]!",
        ".cfi_def_cfa_offset 96",
        ".cfi_offset x29, -96",
        ".cfi_offset x30, -88",
        "    mov     x29, sp",
        "    stp     x15, x16, [sp, #16]",
        "    stp     x2, x3, [sp, #32]",
        "    stp     x4, x5, [sp, #48]",
        "    stp     x6, x7, [sp, #64]",
        "    str     x8, [sp, #80]",
        "    bl      {miss}",
        "    ldp     x0, x1, [sp, #16]",
        "    ldp     x2, x3, [sp, #32]",
        "    ldp     x4, x5, [sp, #48]",
        "    ldp     x6, x7, [sp, #64]",
        "    ldr     x8, [sp, #80]",
        "    ldp     x29, x30, [sp], #96",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "    ret",
        ".cfi_endproc",
        miss = sym crate::mcount::miss,
    )
}
