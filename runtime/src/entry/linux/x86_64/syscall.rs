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
        "    cmp     rdi, {end}",
        "    jae     2f",
        "    lea     rax, [rip + {numbers}]",
        "    bt      [rax], rdi",
        "    jc      {special}",
        "2:",
        "    mov     rax, rdi",
        "    mov     rdi, rsi",
        "    mov     rsi, rdx",
        "    mov     rdx, rcx",
        "    mov     r10, r8",
        "    mov     r8, r9",
        "    mov     r9, [rsp + 8]",
        "    syscall",
        "    cmp     rax, -4095",
        "    jae     1f",
        "    ret",
        "1:  mov     rdi, rax",
        "    jmp     {failed}",
        ".cfi_endproc",
        end = const NUMBERS,
        numbers = sym SPECIAL,
        special = sym special,
        failed = sym failed,
    )
}
