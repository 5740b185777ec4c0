//! `rfork`, by the contract of FreeBSD's kernel.

use core::arch::naked_asm;

use super::super::fork::{COPIES_MEMORY, DECIDING_FLAGS, failed, rfork_copy};

/// `pid_t rfork(int flags)`: a child with a copy of the memory starts its own profile.
///
/// A child that shares the memory also shares the stack, and may return first. This function therefore uses no stack
/// for such a child; x30 has the return address.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn rfork(flags: core::ffi::c_int) -> core::ffi::c_int {
    naked_asm!(
        ".cfi_startproc",
        "    hint    #34", // bti c
        "    mov     w9, #({deciding} & 0xffff)",
        "    movk    w9, #({deciding} >> 16), lsl #16",
        "    and     w9, w0, w9",
        "    cmp     w9, #{copies}",
        "    b.ne    1f",
        "    b       {copy}",
        "1:  mov     x8, #251",
        "    svc     #0",
        "    b.cc    2f",
        "    b       {failed}",
        "2:  ret",
        ".cfi_endproc",
        deciding = const DECIDING_FLAGS,
        copies = const COPIES_MEMORY,
        copy = sym rfork_copy,
        failed = sym failed,
    )
}
