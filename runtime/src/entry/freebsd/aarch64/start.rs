//! `_start`, by the contract of FreeBSD's kernel and of `__libc_start1`.

use core::arch::naked_asm;

use super::super::start::{CLEANUP, finish};

/// The entry point of the program: x0 is the address of argc, with argv and the environment behind it; x2 is a function of the
/// dynamic linker's that is to be called at exit, 0 in a static program.
///
/// `__libc_start1(argc, argv, env, cleanup, main)` registers cleanup in a dynamic program before anything else, so that function
/// runs last at exit. We hand over [`finish`] in its place, which calls the real one and then writes the profile: destructors
/// are profiled too. FreeBSD 13 and older have no `__libc_start1`: the linker says so.
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
        "    add     x1, x0, #8", // argv
        "    ldr     x0, [x0]",   // argc
        "    add     x2, x1, x0, lsl #3",
        "    add     x2, x2, #8", // env
        "    adrp    x3, {finish}",
        "    add     x3, x3, :lo12:{finish}",
        "    adrp    x4, {main}",
        "    add     x4, x4, :lo12:{main}",
        "    bl      __libc_start1",
        "    brk     #1", // never reached
        ".cfi_endproc",
        cleanup = sym CLEANUP,
        finish = sym finish,
        main = sym main_of_the_program,
    )
}

/// The program's `main`, wherever that is: a relocation of its address would be one of the text.
#[unsafe(naked)]
unsafe extern "C" fn main_of_the_program() {
    naked_asm!(
        ".cfi_startproc",
        "    hint    #34", // bti c
        "    b       main",
        ".cfi_endproc",
    )
}
