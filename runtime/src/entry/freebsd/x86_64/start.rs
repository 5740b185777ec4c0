//! `_start`, by the contract of FreeBSD's kernel and of `__libc_start1`.

use core::arch::naked_asm;

use super::super::start::{CLEANUP, finish};

/// The entry point of the program: rdi is the address of argc, with argv and the environment behind it; rsi is a function of the
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
        ".cfi_undefined rip",
        "    endbr64",
        "    xor     ebp, ebp", // the outermost frame
        "    mov     [rip + {cleanup}], rsi",
        "    movsxd  rax, dword ptr [rdi]",
        "    lea     rsi, [rdi + 8]",           // argv
        "    lea     rdx, [rdi + 8*rax + 16]",  // env
        "    mov     edi, eax",                 // argc
        "    lea     rcx, [rip + {finish}]",
        "    lea     r8, [rip + {main}]",
        "    and     rsp, -16",
        "    call    __libc_start1@PLT",
        "    hlt", // never reached
        ".cfi_endproc",
        cleanup = sym CLEANUP,
        finish = sym finish,
        main = sym main_of_the_program,
    )
}

/// The program's `main`, wherever that is: a relocation of its address would be one of the text.
#[unsafe(naked)]
unsafe extern "C" fn main_of_the_program() {
    naked_asm!(".cfi_startproc", "    endbr64", "    jmp     main@PLT", ".cfi_endproc",)
}
