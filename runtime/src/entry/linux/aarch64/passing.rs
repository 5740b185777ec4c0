//! Code that passes on to functions of the C library and of the program, and leaves no frame on the stack.

use core::arch::{global_asm, naked_asm};

use super::super::handover::{before_passing, enter, passing_functions};

/// The first code of a thread: calls [`enter`] with the thread's place, and jumps to the function with its argument.
#[unsafe(naked)]
pub(in super::super) unsafe extern "C" fn begin_thread() {
    naked_asm!(
        ".cfi_startproc",
        "    hint    #34", // bti c
        "    stp     x29, x30, [sp, #-16]!",
        ".cfi_adjust_cfa_offset 16",
        ".cfi_rel_offset x29, 0",
        ".cfi_rel_offset x30, 8",
        "    bl      {enter}",
        "    ldp     x29, x30, [sp], #16",
        ".cfi_adjust_cfa_offset -16",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "    mov     x16, x0", // a jump through this register may land at bti c
        "    mov     x0, x1",
        "    br      x16",
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
    "    hint    #34",
    "    mov     w9, #\\index",
    "    b       1f",
    "    .size   \\name, . - \\name",
    ".endm",
    passing_functions!(),
    ".cfi_startproc",
    "1:  stp     x29, x30, [sp, #-80]!",
    ".cfi_adjust_cfa_offset 80",
    ".cfi_rel_offset x29, 0",
    ".cfi_rel_offset x30, 8",
    "    stp     x0, x1, [sp, #16]",
    "    stp     x2, x3, [sp, #32]",
    "    stp     x4, x5, [sp, #48]",
    "    stp     x6, x7, [sp, #64]",
    "    mov     w0, w9",
    "    bl      {before_passing}",
    "    mov     x16, x0",
    "    ldp     x0, x1, [sp, #16]",
    "    ldp     x2, x3, [sp, #32]",
    "    ldp     x4, x5, [sp, #48]",
    "    ldp     x6, x7, [sp, #64]",
    "    ldp     x29, x30, [sp], #80",
    ".cfi_adjust_cfa_offset -80",
    ".cfi_restore x29",
    ".cfi_restore x30",
    "    br      x16",
    ".cfi_endproc",
    ".purgem passing",
    ".popsection",
    before_passing = sym before_passing,
);
