//! `_start`, by the contract of FreeBSD's kernel and of `__libc_start1`.

use core::arch::naked_asm;

use super::super::start::CLEANUP;

/// The entry point of the program. x0 is the address of argc, followed by argv and the environment. x2 is the address
/// of the dynamic linker's cleanup function, which must be called at exit; 0 in a static program.
///
/// `__libc_start1(argc, argv, env, cleanup, main)` registers `cleanup` in a dynamic program. FreeBSD 13 and older have
/// no `__libc_start1`; the linker reports an undefined symbol.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined x30",
        "    hint    #34",     // bti c
        "    mov     x29, #0", // the outermost frame
        "    mov     x30, #0",
        "    adrp    x9, {cleanup}",
        "    str     x2, [x9, :lo12:{cleanup}]",
        "    mov     x3, x2",
        "    add     x1, x0, #8", // argv
        "    ldr     x0, [x0]",   // argc
        "    add     x2, x1, x0, lsl #3",
        "    add     x2, x2, #8", // env
        "    adrp    x4, {main}",
        "    add     x4, x4, :lo12:{main}",
        "    bl      __libc_start1",
        "    brk     #1", // never reached
        ".cfi_endproc",
        cleanup = sym CLEANUP,
        main = sym main_of_the_program,
    )
}

/// Jumps to the program's `main`. `main` may be in a shared library; its address in this code would need a text
/// relocation.
#[unsafe(naked)]
unsafe extern "C" fn main_of_the_program() {
    naked_asm!(
        ".cfi_startproc",
        "    hint    #34", // bti c
        "    b       main",
        ".cfi_endproc",
    )
}
