//! `__start`, the entry point, as OpenBSD's kernel calls it.

use core::arch::{global_asm, naked_asm};

use super::super::start::start;

/// The entry point of the program. argc is on the stack, followed by argv and the environment. rdx is 0 in a static
/// program, and ld.so's function for the end of a dynamic program.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __start() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "    endbr64",
        "    xor     ebp, ebp", // the outermost frame
        "    mov     edi, dword ptr [rsp]",
        "    lea     rsi, [rsp + 8]",
        "    and     rsp, -16",
        "    call    {start}",
        "    hlt", // never reached
        ".cfi_endproc",
        start = sym start,
    )
}

// The other name of the entry point.
global_asm!(".globl _start", ".type _start, @function", ".set _start, __start");
