//! Code that passes on to functions of the C library and of the program, and leaves no frame on the stack.

use core::arch::{global_asm, naked_asm};

use super::super::handover::{before_passing, enter, passing_functions};

/// The first code of a thread: calls [`enter`] with the thread's place, and jumps to the function with its argument.
#[unsafe(naked)]
pub(in super::super) unsafe extern "C" fn begin_thread() {
    naked_asm!(
        ".cfi_startproc",
        "    endbr64",
        "    sub     rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "    call    {enter}",
        "    add     rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "    mov     rdi, rdx",
        "    jmp     rax",
        ".cfi_endproc",
        enter = sym enter,
    )
}

// The functions that make the process another program, and those that may make the process another user's. Each calls
// `before_passing` with its number in `handover::NAMES`, and jumps to the function that `before_passing` returns, with
// the arguments as they were. No argument is in a vector register.
global_asm!(
    ".pushsection .text.execs,\"ax\",%progbits",
    ".macro passing name, index",
    "    .globl  \\name",
    "    .type   \\name, %function",
    "\\name:",
    "    endbr64",
    "    push    rax", // the number of vector registers
    "    mov     eax, \\index",
    "    jmp     1f",
    "    .size   \\name, . - \\name",
    ".endm",
    passing_functions!(),
    ".cfi_startproc",
    ".cfi_adjust_cfa_offset 8",
    "1:  push    rdi",
    ".cfi_adjust_cfa_offset 8",
    "    push    rsi",
    ".cfi_adjust_cfa_offset 8",
    "    push    rdx",
    ".cfi_adjust_cfa_offset 8",
    "    push    rcx",
    ".cfi_adjust_cfa_offset 8",
    "    push    r8",
    ".cfi_adjust_cfa_offset 8",
    "    push    r9",
    ".cfi_adjust_cfa_offset 8",
    "    mov     edi, eax",
    "    call    {before_passing}",
    "    mov     r11, rax",
    "    pop     r9",
    ".cfi_adjust_cfa_offset -8",
    "    pop     r8",
    ".cfi_adjust_cfa_offset -8",
    "    pop     rcx",
    ".cfi_adjust_cfa_offset -8",
    "    pop     rdx",
    ".cfi_adjust_cfa_offset -8",
    "    pop     rsi",
    ".cfi_adjust_cfa_offset -8",
    "    pop     rdi",
    ".cfi_adjust_cfa_offset -8",
    "    pop     rax",
    ".cfi_adjust_cfa_offset -8",
    "    jmp     r11",
    ".cfi_endproc",
    ".purgem passing",
    ".popsection",
    before_passing = sym before_passing,
);
