//! `__start`, the entry point, as OpenBSD's kernel calls it.

use core::arch::{global_asm, naked_asm};

use super::super::start::start;

/// The entry point of the program. argc is on the stack, followed by argv and the environment. x2 is 0 in a static
/// program, and ld.so's function for the end of a dynamic program.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __start() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined x30",
        "    hint    #34",     // bti c
        "    mov     x29, #0", // the outermost frame
        "    mov     x30, #0",
        "    ldr     x0, [sp]",
        "    add     x1, sp, #8",
        "    and     sp, x1, #-16",
        "    bl      {start}",
        "    brk     #1", // never reached
        ".cfi_endproc",
        start = sym start,
    )
}

// The other name of the entry point.
global_asm!(".globl _start", ".type _start, @function", ".set _start, __start");
