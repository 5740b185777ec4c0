//! `_start`, by the contract of `__libc_start_main` of glibc and musl, and the relocation of static programs.

use core::arch::{global_asm, naked_asm};

use super::super::start::{NOT_RELOCATED, NOT_RELOCATED_LENGTH, RTLD_FINI, finish};
use crate::os::numbers;

/// The entry point of the program.
///
/// `__libc_start_main(main, argc, argv, init = 0, fini = 0, rtld_fini, stack_end)` registers rtld_fini first, so
/// rtld_fini runs last at exit. `_start` passes [`finish`] instead, which calls the real function and then writes the
/// profile: destructors are profiled too. musl's function has the same arguments and uses only the first three.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined x30",
        "    hint    #34",     // bti c
        "    mov     x29, #0", // the outermost frame
        "    mov     x30, #0",
        "    adrp    x9, {rtld_fini}",
        "    str     x0, [x9, :lo12:{rtld_fini}]",
        "    adrp    x5, {finish}",
        "    add     x5, x5, :lo12:{finish}",
        "    ldr     x1, [sp]",     // argc
        "    add     x2, sp, #8",   // argv
        "    mov     x6, sp",       // stack_end
        "    mov     x3, #0",
        "    mov     x4, #0",
        "    adrp    x0, {main}",
        "    add     x0, x0, :lo12:{main}",
        "    bl      __libc_start_main",
        "    brk     #1", // never reached
        ".cfi_endproc",
        rtld_fini = sym RTLD_FINI,
        finish = sym finish,
        main = sym main_of_the_program,
    )
}

/// Jumps to the program's `main`. The address of `main` would have to come from the global offset table, which has no
/// addresses yet when a static PIE starts.
#[unsafe(naked)]
unsafe extern "C" fn main_of_the_program() {
    naked_asm!(
        ".cfi_startproc",
        "    hint    #34", // bti c
        "    b       main",
        ".cfi_endproc",
    )
}

// The relocation, which a static program at a fixed address does not need; grcrt1.o leaves the symbol to the C
// library. A static PIE with this definition is not relocated and could only crash, so the function writes a message,
// in plain instructions, because nothing else works yet.
global_asm!(
    ".pushsection .text._dl_relocate_static_pie,\"ax\",@progbits",
    ".globl _dl_relocate_static_pie",
    ".hidden _dl_relocate_static_pie",
    ".type _dl_relocate_static_pie, @function",
    "_dl_relocate_static_pie:",
    "    hint    #34", // bti c
    "    adrp    x9, __ehdr_start",
    "    add     x9, x9, :lo12:__ehdr_start",
    "    ldrh    w9, [x9, #16]",
    "    cmp     w9, #3", // ET_DYN: the program may be loaded anywhere
    "    b.eq    1f",
    "    ret",
    "1:  mov     x8, #{write}",
    "    mov     x0, #2",
    "    adrp    x1, {text}",
    "    add     x1, x1, :lo12:{text}",
    "    mov     x2, #{length}",
    "    svc     #0",
    "    mov     x8, #{exit_group}",
    "    mov     x0, #127",
    "    svc     #0",
    "    brk     #1", // never reached
    ".size _dl_relocate_static_pie, . - _dl_relocate_static_pie",
    ".popsection",
    write = const numbers::WRITE,
    text = sym NOT_RELOCATED,
    length = const NOT_RELOCATED_LENGTH,
    exit_group = const numbers::EXIT_GROUP,
);
