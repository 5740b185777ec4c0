//! `rfork`, by the contract of FreeBSD's kernel.

use core::arch::naked_asm;

use super::super::fork::{COPIES_MEMORY, DECIDING_FLAGS, failed, rfork_copy};

/// `pid_t rfork(int flags)`: a child with a copy of the memory starts its own profile.
///
/// A child that shares the memory also shares the stack, may return first, and then overwrites this frame. A register
/// therefore keeps the return address, and no other function runs in between.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn rfork(flags: core::ffi::c_int) -> core::ffi::c_int {
    naked_asm!(
        ".cfi_startproc",
        "    endbr64",
        "    mov     eax, edi",
        "    and     eax, {deciding}",
        "    cmp     eax, {copies}",
        "    je      {copy}",
        "    pop     rsi", // the kernel keeps rsi
        ".cfi_def_cfa_offset 0",
        ".cfi_register rip, rsi",
        "    mov     eax, 251",
        "    syscall",
        "    jc      2f",
        "    jmp     rsi",
        "2:  push    rsi",
        ".cfi_def_cfa_offset 8",
        ".cfi_offset rip, -8",
        "    mov     edi, eax",
        "    jmp     {failed}",
        ".cfi_endproc",
        deciding = const DECIDING_FLAGS as i32,
        copies = const COPIES_MEMORY,
        copy = sym rfork_copy,
        failed = sym failed,
    )
}
